import Objects

extension ObjectID {
    /// A new lower-case UUID of version 7: 48 bits of time, then 74 random bits.
    ///
    /// Ids of the same time share a prefix, so an index of ids grows at its end instead of
    /// everywhere.
    ///
    /// - Parameter milliseconds: the time in milliseconds since 1970.
    /// - Reference: RFC 9562 section 5.7.
    public static func new(
        at milliseconds: Int64, from source: inout some RandomNumberGenerator
    ) -> ObjectID {
        let random: UInt64 = source.next()
        let high = UInt64(milliseconds) << 16 | 0x7000 | random & 0x0FFF
        let low: UInt64 = source.next() >> 2 | 1 << 63
        return ObjectID(
            trusted: String(unsafeUninitializedCapacity: 36) { text in
                var end = 0
                for position in 0..<32 {
                    switch position {
                    case 8, 12, 16, 20:
                        text[end] = UInt8(ascii: "-")
                        end += 1
                    default: break
                    }
                    let word = position < 16 ? high : low
                    let digit = UInt8((word >> UInt64(60 - 4 * (position % 16))) & 15)
                    text[end] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
                    end += 1
                }
                return end
            })
    }
}
