import Geodesy

/// A radius as two squared chords in single precision: one is certainly inside the circle, the
/// other certainly outside.
///
/// Let c be a squared chord computed in `Float` from a centre and a point (or the nearest or
/// farthest corner of a node's box), both rounded to `Float`, and let d be the model's distance of
/// the point (or of any point in the box).
///
/// Inequality: `c <= inside` implies `d.isWithin(radius)` (with c to the farthest corner).
/// Inequality: `c > outside` implies `!d.isWithin(radius)` (with c to the nearest corner).
///
/// Proof: rounding moves each end by at most 5.2e-8, so the chord by 1.04e-7. Three subtractions,
/// three squares and two sums add at most 2.5 * 2^-24 = 1.5e-7 of the chord. Rounding the limit
/// itself adds 3e-8 of it. The slack 1.3e-7 + 3e-7 * chord covers all of these. The rounded
/// distance is within 0.6 micrometres of the true one, and a slack of 2 micrometres covers that.
/// Chord and arc grow together up to the antipode. For another model, the radius is first converted
/// to the radii of two circles on the sphere.
struct ChordLimits: Sendable {
    let inside: Float
    let outside: Float

    /// The limits of a radius in metres, 0 or more.
    init(radiusMeters: Double, model: DistanceModel) {
        precondition(radiusMeters >= 0, "a radius of \(radiusMeters) m")
        inside = Self.inside(radiusMeters: radiusMeters, model)
        outside = Self.outside(radiusMeters: radiusMeters, model)
    }

    /// A squared chord that is certainly within the radius; -1 if there is none.
    static func inside(radiusMeters: Double, _ model: DistanceModel) -> Float {
        let arcMeters = model.sphereRadius(within: radiusMeters)
        let halfAngle = (arcMeters - slackMeters) / (2 * Sphere.radiusMeters)
        if halfAngle <= 0 { return -1 }
        if halfAngle >= .pi / 2 { return .infinity }
        let limit = 2 * Sphere.sine(halfAngle) * (1 - relativeSlack) - absoluteSlack
        return limit > 0 ? Float(limit * limit) : -1
    }

    /// A squared chord beyond which every point is certainly outside the radius.
    static func outside(radiusMeters: Double, _ model: DistanceModel) -> Float {
        let arcMeters = model.sphereRadius(containing: radiusMeters)
        let halfAngle = (arcMeters + slackMeters) / (2 * Sphere.radiusMeters)
        if halfAngle >= .pi / 2 { return .infinity }
        let limit = 2 * Sphere.sine(halfAngle) * (1 + relativeSlack) + absoluteSlack
        return Float(limit * limit)
    }

    /// A squared chord beyond which every point is certainly farther, on the sphere, than every
    /// point up to another chord.
    static func beyond(_ chord: Float) -> Float {
        let farthest = (Double(chord).squareRoot() + absoluteSlack) / (1 - relativeSlack)
        let limit = (farthest + slackMeters / Sphere.radiusMeters * 2) * (1 + relativeSlack)
        return Float((limit + absoluteSlack) * (limit + absoluteSlack)).nextUp
    }

    private static let slackMeters = 2e-6
    private static let relativeSlack = 3e-7
    private static let absoluteSlack = 1.3e-7
}
