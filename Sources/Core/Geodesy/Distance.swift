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

    /// The nearest whole number of micrometres; `meters` must be finite and below 9.2e12.
    public static func meters(_ meters: Double) -> Distance {
        let micrometers = meters * 1e6
        // If a half can be added without rounding, that avoids the call of a function.
        guard micrometers >= 0.5, micrometers < 0x1p52 else {
            return Distance(micrometers: Int64(micrometers.rounded()))
        }
        return Distance(micrometers: Int64(micrometers + 0.5))
    }

    /// The nearest whole number of micrometres; `kilometers` must be finite and below 9.2e9.
    public static func kilometers(_ kilometers: Double) -> Distance {
        Distance(micrometers: Int64((kilometers * 1e9).rounded()))
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
