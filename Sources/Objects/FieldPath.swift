import JSONText

/// Which field of an object: `score`, or nested `address.city`.
///
/// A first-level field whose own name is the whole path wins over a nested one.
public struct FieldPath: Sendable, Hashable {
    public let utf8: [UInt8]
    /// The parts between the dots; one when there is no dot.
    private let parts: [[UInt8]]

    public init(_ text: String) { self.init(utf8: Array(text.utf8)) }

    public init(utf8: [UInt8]) {
        self.utf8 = utf8
        parts = utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map(Array.init)
    }

    public var text: String { String(decoding: utf8, as: UTF8.self) }

    public static func == (a: FieldPath, b: FieldPath) -> Bool { a.utf8 == b.utf8 }

    public func hash(into hasher: inout Hasher) { hasher.combine(utf8) }

    /// The field's value in an object, or nil when the object lacks it.
    public func value(in object: JSONView) -> JSONView? {
        if let whole = utf8.withUnsafeBufferPointer({ object.member($0) }) { return whole }
        guard parts.count > 1 else { return nil }
        var value = object
        for part in parts {
            guard let inner = part.withUnsafeBufferPointer({ value.member($0) }) else { return nil }
            value = inner
        }
        return value
    }
}
