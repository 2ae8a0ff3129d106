/// A write position in memory that is known to have enough room: pieces are written without a
/// capacity check for each.
///
///     writer.write(atMost: 8 + JSONCursor.numberBytes) { cursor in
///         cursor.raw("{\"n\":")
///         cursor.millionths(1_500_000)
///         cursor.byte(UInt8(ascii: "}"))
///     }
///
/// One answer writes thousands of pieces, so the cursor must stay in registers: all of it is
/// inlined.
public struct JSONCursor {
    @usableFromInline var at: UnsafeMutablePointer<UInt8>

    @inlinable
    @inline(__always)
    init(_ at: UnsafeMutablePointer<UInt8>) { self.at = at }

    /// Writes a literal's UTF-8 as it is.
    @inlinable
    @inline(__always)
    public mutating func raw(_ text: StaticString) {
        copy(text.utf8Start, text.utf8CodeUnitCount)
    }

    /// Writes bytes as they are; they have to be UTF-8 and make JSON where they stand.
    @inlinable
    @inline(__always)
    public mutating func raw(_ text: UnsafeBufferPointer<UInt8>) {
        if let start = text.baseAddress { copy(start, text.count) }
    }

    /// Writes one byte as it is.
    @inlinable
    @inline(__always)
    public mutating func byte(_ byte: UInt8) {
        at.pointee = byte
        at += 1
    }

    // Short texts, most of what is written, are copied without a call: two halves that overlap.
    @inlinable
    @inline(__always)
    mutating func copy(_ start: UnsafePointer<UInt8>, _ length: Int) {
        let (from, to) = (UnsafeRawPointer(start), UnsafeMutableRawPointer(at))
        switch length {
        case 16...32: Self.copyEnds(SIMD2<UInt64>.self, from, to, length)
        case 8..<16: Self.copyEnds(UInt64.self, from, to, length)
        case 4..<8: Self.copyEnds(UInt32.self, from, to, length)
        case 2..<4: Self.copyEnds(UInt16.self, from, to, length)
        default: to.copyMemory(from: from, byteCount: length)
        }
        at += length
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

    // MARK: Numbers

    /// The room a number has to have: the longest one, and what is overwritten behind it.
    public static var numberBytes: Int { 32 }

    /// An integer of at most 64 bits in decimal notation; there has to be room for `numberBytes`.
    @inlinable
    @inline(__always)
    public mutating func integer(_ value: some FixedWidthInteger) {
        if value < 0 { byte(UInt8(ascii: "-")) }
        digits(UInt64(value.magnitude))
    }

    /// Millionths in decimal notation: 3_519_661_461 is `3519.661461`, 2_000_000 is `2.0`.
    @inlinable
    @inline(__always)
    public mutating func millionths(_ value: Int64) {
        if value < 0 { byte(UInt8(ascii: "-")) }
        let (whole, fraction) = value.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        digits(whole)
        byte(UInt8(ascii: "."))
        // The last six of the eight digits; zeros at the end, in the word's highest bytes, go.
        let digits = Self.eightDigits(fraction) >> 16
        at = Self.store(digits, max(1, 8 - digits.leadingZeroBitCount / 8), at)
    }

    @inlinable
    @inline(__always)
    mutating func digits(_ value: UInt64) {
        at = value < 100_000_000 ? Self.few(value, at) : Self.many(value, at)
    }

    /// Writes a number of up to eight digits; where it ends.
    @inlinable
    @inline(__always)
    static func few(
        _ value: UInt64, _ at: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        let digits = eightDigits(value)
        // Zeros at the beginning, in the word's lowest bytes, go; one digit stays.
        let zeros = min(7, digits.trailingZeroBitCount / 8)
        return store(digits >> (8 * UInt64(zeros)), 8 - zeros, at)
    }

    @inline(never)
    @usableFromInline
    static func many(
        _ value: UInt64, _ at: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        let (high, low) = value.quotientAndRemainder(dividingBy: 100_000_000)
        let end = high < 100_000_000 ? few(high, at) : many(high, at)
        return store(eightDigits(low), 8, end)
    }

    /// Writes the first of eight digits, each the value of a byte, the lowest byte first.
    @inlinable
    @inline(__always)
    static func store(
        _ digits: UInt64, _ length: Int, _ at: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        let text = (digits | 0x3030_3030_3030_3030).littleEndian
        UnsafeMutableRawPointer(at).storeBytes(of: text, as: UInt64.self)
        return at + length
    }

    /// The eight digits of a number below 10^8, each in a byte, the first in the lowest.
    ///
    /// Halves are split side by side in one word: four digits, two, one. The products replace
    /// divisions: `x * 10486 >> 20` is `x / 100` below 10^4, `x * 103 >> 10` is `x / 10` below 100.
    @inlinable
    @inline(__always)
    static func eightDigits(_ value: UInt64) -> UInt64 {
        let (first, second) = value.quotientAndRemainder(dividingBy: 10_000)
        let fours = first | second << 32
        let hundreds = (fours &* 10_486) >> 20 & 0x7f_0000_007f
        let twos = hundreds | (fours &- 100 &* hundreds) << 16
        let tens = (twos &* 103) >> 10 & 0xf_000f_000f_000f
        return tens | (twos &- 10 &* tens) << 8
    }
}
