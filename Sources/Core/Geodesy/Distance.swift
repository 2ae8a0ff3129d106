/// A length on the ground in whole micrometres.
///
///     Distance.meters(1.5).micrometers        // 1500000
///     Distance.kilometers(2) > .meters(1999)  // true
///
/// Distances are rounded to the micrometre once, where they are computed. The same value is
/// compared with a radius, sorted by and reported, so no two answers can disagree about it.
public struct Distance: BitwiseCopyable, Sendable, Hashable {
    /// The length in micrometres.
    public let micrometers: Int64

    /// A length in whole micrometres.
    public init(micrometers: Int64) {
        self.micrometers = micrometers
    }

    /// No length at all.
    public static let zero = Distance(micrometers: 0)

    /// The longest length, of 9.2 thousand million kilometres. Only a line of hundreds of thousands
    /// of positions is longer.
    public static let longest = Distance(micrometers: .max)

    /// The nearest whole number of micrometres, or `longest`; `meters` must be a number.
    public static func meters(_ meters: Double) -> Distance {
        let micrometers = meters * 1e6
        // If a half can be added without rounding, that avoids the call of a function.
        guard micrometers >= 0.5, micrometers < 0x1p52 else { return rounded(micrometers) }
        return Distance(micrometers: Int64(micrometers + 0.5))
    }

    /// The nearest whole number of micrometres, or `longest`; `kilometers` must be a number.
    public static func kilometers(_ kilometers: Double) -> Distance { rounded(kilometers * 1e9) }

    private static func rounded(_ micrometers: Double) -> Distance {
        // Rounding takes no number from below 2^63 to it: there, all are whole.
        micrometers < 0x1p63 ? Distance(micrometers: Int64(micrometers.rounded())) : longest
    }

    /// The length in metres, correctly rounded up to 2^53 micrometres (nine million kilometres).
    public var meters: Double { Double(micrometers) / 1e6 }

    /// Whether this length, in metres, is at most the radius.
    public func isWithin(radiusMeters: Double) -> Bool { meters <= radiusMeters }
}

extension Distance: Comparable {
    /// Shorter than.
    public static func < (a: Distance, b: Distance) -> Bool { a.micrometers < b.micrometers }
}

extension Distance: CustomStringConvertible {
    /// `1.5 m`
    public var description: String { "\(meters) m" }
}
