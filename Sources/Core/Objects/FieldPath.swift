import PlainJSON

/// The path of a field in an object: `score`, or nested `address.city`.
///
/// A first-level field whose name is the whole path takes precedence over a nested one.
public struct FieldPath: Sendable, Hashable {
    /// The path as it was given, names joined by `.`.
    public let utf8: [UInt8]

    /// A path by its text; any text is one, though it may name no field.
    public init(_ text: String) { self.init(utf8: Array(text.utf8)) }

    /// A path by its text's UTF-8.
    public init(utf8: [UInt8]) { self.utf8 = utf8 }

    /// The path as a string; bytes that are not UTF-8 are replaced. O(length).
    public var text: String { String(decoding: utf8, as: UTF8.self) }

    /// Takes in all bytes at once, which is several times as fast as one by one.
    public func hash(into hasher: inout Hasher) {
        utf8.withUnsafeBytes { hasher.combine(bytes: $0) }
    }

    /// The field's value in an object, or nil if the object lacks it.
    public func value(in object: JSONView) -> JSONView? {
        utf8.withUnsafeBufferPointer { path in
            if let whole = object.member(path) { return whole }
            guard var dot = path.firstIndex(of: Self.dot) else { return nil }
            var (value, start) = (object, 0)
            while true {
                let part = UnsafeBufferPointer(rebasing: path[start..<dot])
                guard let inner = value.member(part) else { return nil }
                if dot == path.endIndex { return inner }
                (value, start) = (inner, dot + 1)
                dot = path[start...].firstIndex(of: Self.dot) ?? path.endIndex
            }
        }
    }

    private static let dot = UInt8(ascii: ".")
}
