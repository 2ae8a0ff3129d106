import CSimdjson

/// JSON text in the making: bytes appended to a buffer of its own.
///
///     writer.raw("{")
///     writer.key("n")
///     writer.integer(3)
///     writer.raw("}")                    // {"n":3}
///
/// The caller sees to the grammar; the writer sees to escapes and the spelling of numbers.
public struct JSONWriter: Sendable {
    public private(set) var bytes: [UInt8] = []

    public init() {}

    public init(reserving capacity: Int) { bytes.reserveCapacity(capacity) }

    public var count: Int { bytes.count }

    public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Forgets everything behind the first `count` bytes.
    public mutating func truncate(to count: Int) { bytes.removeLast(bytes.count - count) }

    public mutating func raw(_ text: StaticString) {
        bytes.append(
            contentsOf: UnsafeBufferPointer(
                start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    public mutating func raw(_ text: UnsafeBufferPointer<UInt8>) { bytes.append(contentsOf: text) }

    public mutating func raw(_ text: [UInt8]) { bytes.append(contentsOf: text) }

    public mutating func raw(_ text: ArraySlice<UInt8>) { bytes.append(contentsOf: text) }

    public mutating func byte(_ byte: UInt8) { bytes.append(byte) }

    /// The name of the next member, with the comma that separates it from the one before.
    public mutating func key(_ name: StaticString) {
        if bytes.last != UInt8(ascii: "{") { byte(UInt8(ascii: ",")) }
        byte(UInt8(ascii: "\""))
        raw(name)
        raw("\":")
    }

    public mutating func bool(_ value: Bool) { value ? raw("true") : raw("false") }

    /// A string with its quotes; only what JSON demands is escaped.
    public mutating func string(_ utf8: some Sequence<UInt8>) {
        byte(UInt8(ascii: "\""))
        for unit in utf8 {
            switch unit {
            case UInt8(ascii: "\""): raw("\\\"")
            case UInt8(ascii: "\\"): raw("\\\\")
            case 0x0A: raw("\\n")
            case 0x0D: raw("\\r")
            case 0x09: raw("\\t")
            case 0..<0x20:
                raw("\\u00")
                byte(Self.hexDigit(unit >> 4))
                byte(Self.hexDigit(unit & 15))
            default: byte(unit)
            }
        }
        byte(UInt8(ascii: "\""))
    }

    public mutating func string(_ text: String) { string(text.utf8) }

    public mutating func integer(_ value: some FixedWidthInteger) {
        if value < 0 { byte(UInt8(ascii: "-")) }
        digits(UInt64(value.magnitude))
    }

    /// Millionths in decimal notation: 3_519_661_461 is `3519.661461`, 2_000_000 is `2.0`.
    public mutating func millionths(_ value: Int64) {
        if value < 0 { byte(UInt8(ascii: "-")) }
        digits(value.magnitude / 1_000_000)
        byte(UInt8(ascii: "."))
        var fraction = value.magnitude % 1_000_000
        var divisor: UInt64 = 100_000
        repeat {
            byte(UInt8(ascii: "0") + UInt8(fraction / divisor))
            fraction %= divisor
            divisor /= 10
        } while fraction > 0
    }

    /// A finite binary64 in the shortest spelling that reads back as the same value.
    public mutating func double(_ value: Double) {
        precondition(value.isFinite, "\(value) has no JSON spelling")
        bytes.append(contentsOf: value.description.utf8)
    }

    public mutating func number(_ value: JSONNumber) {
        switch value {
        case .integer(let integer): self.integer(integer)
        case .unsigned(let unsigned): self.integer(unsigned)
        case .decimal(let decimal): self.double(decimal)
        }
    }

    private mutating func digits(_ value: UInt64) {
        if value < 10 { return byte(UInt8(ascii: "0") + UInt8(value)) }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { buffer in
            var rest = value
            var at = 20
            repeat {
                at -= 1
                buffer[at] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[at..<20]))
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

/// A valid JSON text without its insignificant white space; everything else stays as it was
/// spelled.
public func minifiedJSON(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    guard let base = text.baseAddress else { return [] }
    return withUnsafeTemporaryAllocation(
        of: UInt8.self, capacity: text.count + Int(gb_json_minify_slack)
    ) { buffer in
        let count = gb_json_minify(base, text.count, buffer.baseAddress!)
        return [UInt8](UnsafeBufferPointer(rebasing: buffer[..<count]))
    }
}
