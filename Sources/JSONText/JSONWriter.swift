import CSimdjson
import Glibc

/// JSON text in the making: bytes appended to a buffer of its own.
///
///     writer.raw("{")
///     writer.key("n")
///     writer.integer(3)
///     writer.raw("}")                    // {"n":3}
///
/// The caller sees to the grammar; the writer sees to escapes and the spelling of numbers.
///
/// - Complexity: an append is a comparison and a copy; the buffer doubles when it is full and is
///   kept by `removeAll`.
///
/// `@unchecked Sendable`: the buffer has this one owner, which cannot be copied.
public struct JSONWriter: ~Copyable, @unchecked Sendable {
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    /// Bytes written.
    public private(set) var count = 0

    public init(reserving capacity: Int = 256) {
        self.capacity = max(capacity, 32)
        base = Self.allocated(nil, self.capacity)
    }

    deinit { free(base) }

    /// A copy of what has been written.
    public var bytes: [UInt8] { [UInt8](UnsafeBufferPointer(start: base, count: count)) }

    /// What has been written, for the duration of `body`.
    public borrowing func withBytes<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeBufferPointer(start: base, count: count))
    }

    /// Forgets everything, and gives back memory beyond `kept` bytes.
    public mutating func removeAll(keeping kept: Int = .max) {
        count = 0
        guard capacity > kept else { return }
        capacity = max(kept, 32)
        base = Self.allocated(base, capacity)
    }

    /// Forgets everything behind the first `count` bytes.
    public mutating func truncate(to count: Int) {
        precondition((0...self.count).contains(count), "\(count) of \(self.count) bytes")
        self.count = count
    }

    // MARK: Bytes

    public mutating func raw(_ text: StaticString) {
        append(text.utf8Start, text.utf8CodeUnitCount)
    }

    public mutating func raw(_ text: UnsafeBufferPointer<UInt8>) {
        if let start = text.baseAddress { append(start, text.count) }
    }

    public mutating func raw(_ text: [UInt8]) { text.withUnsafeBufferPointer { raw($0) } }

    public mutating func raw(_ text: ArraySlice<UInt8>) { text.withUnsafeBufferPointer { raw($0) } }

    public mutating func byte(_ byte: UInt8) {
        room(for: 1).pointee = byte
        count += 1
    }

    /// Where the next bytes go, with room for so many.
    private mutating func room(for more: Int) -> UnsafeMutablePointer<UInt8> {
        if capacity - count < more { grow(by: more) }
        return base + count
    }

    private mutating func append(_ start: UnsafePointer<UInt8>, _ length: Int) {
        room(for: length).update(from: start, count: length)
        count += length
    }

    @inline(never)
    private mutating func grow(by more: Int) {
        capacity = max(2 * capacity, count + more)
        base = Self.allocated(base, capacity)
    }

    private static func allocated(
        _ old: UnsafeMutablePointer<UInt8>?, _ capacity: Int
    ) -> UnsafeMutablePointer<UInt8> {
        guard let memory = realloc(old, capacity) else { fatalError("out of memory") }
        return memory.assumingMemoryBound(to: UInt8.self)
    }

    // MARK: JSON

    /// The name of the next member, with the comma that separates it from the one before.
    public mutating func key(_ name: StaticString) {
        if count == 0 || base[count - 1] != UInt8(ascii: "{") { byte(UInt8(ascii: ",")) }
        byte(UInt8(ascii: "\""))
        raw(name)
        raw("\":")
    }

    public mutating func bool(_ value: Bool) { value ? raw("true") : raw("false") }

    /// A string with its quotes; only what JSON demands is escaped.
    public mutating func string(_ utf8: UnsafeBufferPointer<UInt8>) {
        byte(UInt8(ascii: "\""))
        var start = 0  // of a run that stands as it is
        for at in 0..<utf8.count where Self.isEscaped(utf8[at]) {
            raw(UnsafeBufferPointer(rebasing: utf8[start..<at]))
            escape(utf8[at])
            start = at + 1
        }
        raw(UnsafeBufferPointer(rebasing: utf8[start...]))
        byte(UInt8(ascii: "\""))
    }

    public mutating func string(_ utf8: [UInt8]) { utf8.withUnsafeBufferPointer { string($0) } }

    public mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { string($0) }
    }

    private static func isEscaped(_ unit: UInt8) -> Bool {
        unit < 0x20 || unit == UInt8(ascii: "\"") || unit == UInt8(ascii: "\\")
    }

    private mutating func escape(_ unit: UInt8) {
        switch unit {
        case UInt8(ascii: "\""): raw("\\\"")
        case UInt8(ascii: "\\"): raw("\\\\")
        case 0x0A: raw("\\n")
        case 0x0D: raw("\\r")
        case 0x09: raw("\\t")
        default:
            raw("\\u00")
            byte(Self.hexDigit(unit >> 4))
            byte(Self.hexDigit(unit & 15))
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    // MARK: Numbers

    @inlinable
    public mutating func integer(_ value: some FixedWidthInteger) {
        if value < 0 { byte(UInt8(ascii: "-")) }
        digits(UInt64(value.magnitude))
    }

    /// Millionths in decimal notation: 3_519_661_461 is `3519.661461`, 2_000_000 is `2.0`.
    public mutating func millionths(_ value: Int64) {
        if value < 0 { byte(UInt8(ascii: "-")) }
        let (whole, fraction) = value.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        digits(whole)
        let place = room(for: 7)
        place[0] = UInt8(ascii: ".")
        Self.write(fraction, to: place + 1, digits: 6)
        var length = 7
        while length > 2, place[length - 1] == UInt8(ascii: "0") { length -= 1 }
        count += length
    }

    /// A finite binary64 in the shortest spelling that reads back as the same value.
    public mutating func double(_ value: Double) {
        precondition(value.isFinite, "\(value) has no JSON spelling")
        var text = value.description
        text.withUTF8 { raw($0) }
    }

    public mutating func number(_ value: JSONNumber) {
        switch value {
        case .integer(let integer): self.integer(integer)
        case .unsigned(let unsigned): self.integer(unsigned)
        case .decimal(let decimal): self.double(decimal)
        }
    }

    @usableFromInline
    mutating func digits(_ value: UInt64) {
        var (length, power) = (1, UInt64(10))
        while length < 20, value >= power {
            length += 1
            power = length < 20 ? power * 10 : .max
        }
        Self.write(value, to: room(for: length), digits: length)
        count += length
    }

    /// The last so many digits of a number, two at a time from the end.
    private static func write(
        _ value: UInt64, to place: UnsafeMutablePointer<UInt8>, digits: Int
    ) {
        var (rest, at) = (value, digits)
        while at >= 2 {
            let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
            at -= 2
            (place + at).update(from: pairs.utf8Start + 2 * Int(pair), count: 2)
            rest = quotient
        }
        if at == 1 { place[0] = UInt8(ascii: "0") + UInt8(rest % 10) }
    }

    /// The numbers from 00 through 99.
    private static var pairs: StaticString {
        """
        00010203040506070809101112131415161718192021222324252627282930313233343536373839\
        40414243444546474849505152535455565758596061626364656667686970717273747576777879\
        8081828384858687888990919293949596979899
        """
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
