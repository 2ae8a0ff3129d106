/// A natural number of any size.
struct WideNatural: Comparable {
    /// The lowest word first; the last one is not 0.
    private var words: [UInt64] = []

    /// The number of bits up to the highest one that is set; 0 for 0.
    var bitWidth: Int { words.count * 64 - (words.last?.leadingZeroBitCount ?? 0) }

    static func < (a: WideNatural, b: WideNatural) -> Bool {
        if a.words.count != b.words.count { return a.words.count < b.words.count }
        return a.words.reversed().lexicographicallyPrecedes(b.words.reversed())
    }

    // MARK: Bits

    /// 64 bits, from a position upwards.
    func bits(from position: Int) -> UInt64 {
        let (word, shift) = (position / 64, UInt64(position % 64))
        let low = self.word(word) >> shift
        return shift == 0 ? low : low | self.word(word + 1) << (64 - shift)
    }

    /// Whether a bit below a position is set.
    func hasBits(below position: Int) -> Bool {
        words.prefix(position / 64).contains { $0 != 0 }
            || word(position / 64) & (1 << UInt64(position % 64) - 1) != 0
    }

    private func word(_ index: Int) -> UInt64 { index < words.count ? words[index] : 0 }

    // MARK: Arithmetic

    /// Adds a value times a power of two.
    mutating func add(_ value: UInt128, shiftedBy shift: Int) {
        let bits = UInt64(shift % 64)
        let low = UInt64(truncatingIfNeeded: value) << bits
        let rest = bits == 0 ? value >> 64 : value >> (64 - UInt128(bits))
        let parts = [low, UInt64(truncatingIfNeeded: rest), UInt64(rest >> 64)]
        let first = shift / 64
        if words.count < first + parts.count {
            words += [UInt64](repeating: 0, count: first + parts.count - words.count)
        }
        var carry: UInt64 = 0
        for (offset, part) in parts.enumerated() { carry = add(part, carry, at: first + offset) }
        var index = first + parts.count
        while carry != 0 {
            if index == words.count { words.append(0) }
            carry = add(0, carry, at: index)
            index += 1
        }
        trim()
    }

    /// - Returns: the carry.
    private mutating func add(_ part: UInt64, _ carry: UInt64, at index: Int) -> UInt64 {
        let (sum, first) = words[index].addingReportingOverflow(part)
        let (total, second) = sum.addingReportingOverflow(carry)
        words[index] = total
        return (first ? 1 : 0) + (second ? 1 : 0)
    }

    /// Subtracts a number that is not greater.
    mutating func subtract(_ other: WideNatural) {
        var borrow: UInt64 = 0
        for index in words.indices {
            let (difference, first) = words[index].subtractingReportingOverflow(other.word(index))
            let (rest, second) = difference.subtractingReportingOverflow(borrow)
            words[index] = rest
            borrow = (first ? 1 : 0) + (second ? 1 : 0)
        }
        precondition(borrow == 0, "a greater number was subtracted")
        trim()
    }

    /// Divides by a number that is not 0.
    ///
    /// - Returns: the remainder.
    mutating func divide(by divisor: UInt64) -> UInt64 {
        var remainder: UInt64 = 0
        for index in words.indices.reversed() {
            (words[index], remainder) = divisor.dividingFullWidth((remainder, words[index]))
        }
        trim()
        return remainder
    }

    /// Divides by a power of 2^64 and drops the remainder.
    mutating func dropWords(_ count: Int) { words.removeFirst(min(count, words.count)) }

    private mutating func trim() { while words.last == 0 { words.removeLast() } }
}

extension WideNatural {
    /// The decimal digits.
    var digits: String {
        var rest = self
        var parts: [String] = []
        repeat {
            let part = String(rest.divide(by: 10_000_000_000_000_000_000))
            let zeros = rest.bitWidth == 0 ? 0 : 19 - part.utf8.count
            parts.append(String(repeating: "0", count: zeros) + part)
        } while rest.bitWidth > 0
        return parts.reversed().joined()
    }
}
