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
    @usableFromInline var base: UnsafeMutablePointer<UInt8>
    @usableFromInline var capacity: Int
    @usableFromInline var used = 0

    /// Bytes written.
    public var count: Int { used }

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
        used = 0
        guard capacity > kept else { return }
        capacity = max(kept, 32)
        base = Self.allocated(base, capacity)
    }

    /// Forgets everything behind the first `count` bytes.
    public mutating func truncate(to count: Int) {
        precondition((0...self.count).contains(count), "\(count) of \(self.count) bytes")
        used = count
    }

    // MARK: Bytes

    @inlinable
    public mutating func raw(_ text: StaticString) {
        append(text.utf8Start, text.utf8CodeUnitCount)
    }

    @inlinable
    public mutating func raw(_ text: UnsafeBufferPointer<UInt8>) {
        if let start = text.baseAddress { append(start, text.count) }
    }

    @inlinable
    public mutating func raw(_ text: [UInt8]) { text.withUnsafeBufferPointer { raw($0) } }

    @inlinable
    public mutating func raw(_ text: ArraySlice<UInt8>) { text.withUnsafeBufferPointer { raw($0) } }

    @inlinable
    public mutating func byte(_ byte: UInt8) {
        room(for: 1).pointee = byte
        used += 1
    }

    /// Where the next bytes go, with room for so many.
    @inlinable
    mutating func room(for more: Int) -> UnsafeMutablePointer<UInt8> {
        if capacity - used < more { grow(by: more) }
        return base + used
    }

    // Short texts, most of what is written, are copied without a call: two halves that overlap.
    @inlinable
    mutating func append(_ start: UnsafePointer<UInt8>, _ length: Int) {
        let (from, to) = (UnsafeRawPointer(start), UnsafeMutableRawPointer(room(for: length)))
        switch length {
        case 16...32: Self.copyEnds(SIMD2<UInt64>.self, from, to, length)
        case 8..<16: Self.copyEnds(UInt64.self, from, to, length)
        case 4..<8: Self.copyEnds(UInt32.self, from, to, length)
        case 2..<4: Self.copyEnds(UInt16.self, from, to, length)
        default: to.copyMemory(from: from, byteCount: length)
        }
        used += length
    }

    /// Copies from one through two times as many bytes as a word has: the first and the last word.
    @inlinable
    @inline(__always)
    static func copyEnds<Word: BitwiseCopyable>(
        _: Word.Type, _ from: UnsafeRawPointer, _ to: UnsafeMutableRawPointer, _ length: Int
    ) {
        let last = length - MemoryLayout<Word>.size
        let words = (from.loadUnaligned(as: Word.self), (from + last).loadUnaligned(as: Word.self))
        to.storeBytes(of: words.0, as: Word.self)
        (to + last).storeBytes(of: words.1, as: Word.self)
    }

    @inline(never)
    @usableFromInline
    mutating func grow(by more: Int) {
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
        byte(UInt8(ascii: "."))
        // The last six of the eight digits; zeros at the end, in the word's highest bytes, go.
        let digits = Self.eightDigits(fraction) >> 16
        store(digits, max(1, 8 - digits.leadingZeroBitCount / 8))
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
        let (high, low) = value.quotientAndRemainder(dividingBy: 100_000_000)
        let digits = Self.eightDigits(low)
        guard high == 0 else {
            self.digits(high)
            return store(digits, 8)
        }
        // Zeros at the beginning, in the word's lowest bytes, go; one digit stays.
        let zeros = min(7, digits.trailingZeroBitCount / 8)
        store(digits >> (8 * UInt64(zeros)), 8 - zeros)
    }

    /// Appends the first of eight digits, each the value of a byte, the lowest byte first.
    private mutating func store(_ digits: UInt64, _ length: Int) {
        let text = (digits | 0x3030_3030_3030_3030).littleEndian
        UnsafeMutableRawPointer(room(for: 8)).storeBytes(of: text, as: UInt64.self)
        used += length
    }

    /// The eight digits of a number below 10^8, each in a byte, the first in the lowest.
    ///
    /// Halves are split side by side in one word: four digits, two, one. The products replace
    /// divisions: `x * 10486 >> 20` is `x / 100` below 10^4, `x * 103 >> 10` is `x / 10` below 100.
    private static func eightDigits(_ value: UInt64) -> UInt64 {
        let (first, second) = value.quotientAndRemainder(dividingBy: 10_000)
        let fours = first | second << 32
        let hundreds = (fours * 10_486) >> 20 & 0x7f_0000_007f
        let twos = hundreds | (fours - 100 * hundreds) << 16
        let tens = (twos * 103) >> 10 & 0xf_000f_000f_000f
        return tens | (twos - 10 * tens) << 8
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
