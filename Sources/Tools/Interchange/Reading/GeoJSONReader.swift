import JSONText

/// Reads the features of GeoJSON: a FeatureCollection of any size, a Feature, or several Features,
/// each on its own line or in a GeoJSON text sequence (RFC 8142).
///
/// A collection is read feature by feature and never kept whole. Outside a collection, reading
/// continues on the next line after a text that is no feature.
struct GeoJSONReader: RecordReader {
    private enum Position {
        /// Between texts.
        case top
        /// In the array of a collection; `head` is its text up to the array's bracket.
        case collection(head: [UInt8], ArrayElements)
    }

    private let window: ByteWindow
    private let parser = JSONParser()
    private var position = Position.top
    /// Whether the reference system was known before the first feature was read.
    private let knowsSystem: Bool
    /// The number of the last feature.
    private var number = 0

    init(_ window: ByteWindow, knowsSystem: Bool) {
        (self.window, self.knowsSystem) = (window, knowsSystem)
    }

    mutating func next() throws(InterchangeError) -> RawRecord? {
        while true {
            switch position {
            case .top:
                guard try window.skipSpace(and: Self.recordSeparator) else { return nil }
                if try Rejection.skipNote(in: window) { continue }
                if let record = try text() { return record }
            case .collection(let head, let elements):
                if let record = try element(head, elements) { return record }
            }
        }
    }

    // MARK: Texts

    private static let recordSeparator: UInt8 = 0x1E

    /// Reads one text: a feature's record, or nil when the text opens a collection.
    private mutating func text() throws(InterchangeError) -> RawRecord? {
        guard window.bytes[0] == UInt8(ascii: "{") else {
            return try brokenLine("expected a GeoJSON object")
        }
        while true {
            switch GeoJSONShape(of: window.bytes) {
            case .collection(let head):
                position = .collection(
                    head: Array(window.prefix(head)),
                    ArrayElements(
                        window, of: "the FeatureCollection", each: "feature", before: number))
                window.consume(head)
                return nil
            case .object(let bytes):
                if spansLines(bytes), !isJSON(bytes) {
                    return try brokenLine("the text is not valid JSON")
                }
                return record(bytes)
            case .malformed: return try brokenLine("the text is not valid JSON")
            case .incomplete:
                if try window.fill() != .grown { return try brokenLine("the text is not closed") }
            }
        }
    }

    private func spansLines(_ bytes: Int) -> Bool {
        window.firstIndex(of: UInt8(ascii: "\n")).map { $0 < bytes } ?? false
    }

    private func isJSON(_ bytes: Int) -> Bool {
        (try? parser.parse(window.prefix(bytes))) != nil
    }

    /// Reports the text at this position and moves past its first line.
    private mutating func brokenLine(_ message: String) throws(InterchangeError) -> RawRecord {
        let bytes = try window.line() ?? 0
        defer { window.consume(bytes) }
        number += 1
        return RawRecord(
            number: number, result: .failure(RecordError(message)),
            source: Array(window.prefix(bytes)))
    }

    // MARK: Collections

    /// One feature of the collection, or nil at the collection's end.
    private mutating func element(
        _ head: [UInt8], _ elements: ArrayElements
    ) throws(InterchangeError) -> RawRecord? {
        var elements = elements
        guard let bytes = try elements.next() else {
            try closeCollection(head, elements)
            return nil
        }
        position = .collection(head: head, elements)
        return record(bytes)
    }

    /// Reads the rest of the collection's text, from the array's closing bracket on.
    private mutating func closeCollection(
        _ head: [UInt8], _ elements: ArrayElements
    ) throws(InterchangeError) {
        let tail = try elements.end(JSONBoundary(depth: 1), from: 1)
        let text = head + window.prefix(tail)
        let view = try? parser.parse(text)
        guard let view, let type = view["type"]?.string, type == "FeatureCollection" else {
            throw InterchangeError(
                "what surrounds the features is no valid FeatureCollection")
        }
        try checkSystem(view)
        window.consume(tail)
        position = .top
    }

    /// A reference system behind the features would come too late to convert them.
    private func checkSystem(_ collection: JSONView) throws(InterchangeError) {
        guard !knowsSystem, let name = collection["crs"]?["properties"]?["name"]?.string,
            ReferenceSystem(name) != .degrees
        else { return }
        throw InterchangeError(
            "the reference system \(name) stands behind the features, which were taken for degrees; "
                + "--crs says it before")
    }

    // MARK: Records

    private mutating func record(_ bytes: Int) -> RawRecord {
        defer { window.consume(bytes) }
        number += 1
        return RawRecord(number: number, result: .success(Array(window.prefix(bytes))))
    }
}
