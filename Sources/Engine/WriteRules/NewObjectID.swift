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
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for position in 0..<32 {
            if [8, 12, 16, 20].contains(position) { text.append(UInt8(ascii: "-")) }
            let word = position < 16 ? high : low
            text.append(digits[Int((word >> UInt64(60 - 4 * (position % 16))) & 15)])
        }
        return ObjectID(trusted: String(decoding: text, as: UTF8.self))
    }
}
