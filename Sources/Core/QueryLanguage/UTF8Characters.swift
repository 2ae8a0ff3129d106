import CLanes

// The characters of a text that is known to be UTF-8, one by one. A character is a code point.

extension UnsafeBufferPointer<UInt8> {
    /// The character at a position, which moves behind it.
    func character(at position: inout Int) -> UInt32 {
        let first = UInt32(self[position])
        position += 1
        guard first >= 0x80 else { return first }
        // The bits of the first byte that belong to the character.
        var value = first & (first < 0xE0 ? 0x1F : first < 0xF0 ? 0x0F : 0x07)
        while position < count, self[position] & 0xC0 == 0x80 {
            value = value << 6 | UInt32(self[position] & 0x3F)
            position += 1
        }
        return value
    }

    /// The position so many characters behind another; nil if there are fewer.
    func position(_ characters: Int, charactersBehind start: Int) -> Int? {
        var position = start
        for _ in 0..<characters {
            guard position < count else { return nil }
            repeat { position += 1 } while position < count && self[position] & 0xC0 == 0x80
        }
        return position
    }

    /// The position so many characters before another; nil if there are fewer.
    func position(_ characters: Int, charactersBefore end: Int) -> Int? {
        var position = end
        for _ in 0..<characters {
            guard position > 0 else { return nil }
            repeat { position -= 1 } while position > 0 && self[position] & 0xC0 == 0x80
        }
        return position
    }

    /// Where the bytes end that occur in a row for the first time; nil if they do not occur.
    ///
    /// - Complexity: O(count), whatever the part: the C library's two-way search.
    func end(of part: [UInt8]) -> Int? {
        guard !part.isEmpty else { return 0 }
        guard let base = baseAddress, let found = gb_memmem(base, count, part, part.count) else {
            return nil
        }
        return UnsafeRawPointer(base).distance(to: found) + part.count
    }
}
