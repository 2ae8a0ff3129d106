/// The kind of a GeoJSON text, determined from its first-level members without reading their
/// values.
enum GeoJSONShape: Equatable {
    /// A collection; after `head` bytes comes its first feature or the array's end.
    case collection(head: Int)
    /// Any other object, with its length in bytes.
    case object(bytes: Int)
    /// More bytes are needed to decide.
    case incomplete
    /// Text that is no object, or whose end cannot be found.
    case malformed

    /// - Parameter bytes: from the text's opening brace on.
    init(of bytes: UnsafeBufferPointer<UInt8>) { self = Self.shape(bytes) ?? .incomplete }

    /// Nil where more bytes are needed.
    private static func shape(_ bytes: UnsafeBufferPointer<UInt8>) -> GeoJSONShape? {
        var at = 1
        var isFeature = false
        while true {
            guard let start = skipSpace(bytes, at) else { return nil }
            switch bytes[start] {
            case UInt8(ascii: "}"): return .object(bytes: start + 1)
            case UInt8(ascii: ","): at = start + 1
            case UInt8(ascii: "\""):
                guard let nameEnd = JSONBoundary.end(of: start, in: bytes),
                    let colon = skipSpace(bytes, nameEnd)
                else { return nil }
                guard bytes[colon] == UInt8(ascii: ":") else { return .malformed }
                guard let value = skipSpace(bytes, colon + 1) else { return nil }
                let name = bytes[start..<nameEnd]
                if name.elementsEqual("\"features\"".utf8), bytes[value] == UInt8(ascii: "["),
                    !isFeature
                {
                    return .collection(head: value + 1)
                }
                guard let end = JSONBoundary.end(of: value, in: bytes) else { return nil }
                if name.elementsEqual("\"type\"".utf8) {
                    isFeature = bytes[value..<end].elementsEqual("\"Feature\"".utf8)
                }
                at = end
            default: return .malformed
            }
        }
    }

    private static func skipSpace(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int? {
        bytes[start...].firstIndex { !UnsafeBufferPointer.isSpace($0) }
    }
}
