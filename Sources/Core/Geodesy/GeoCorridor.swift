/// What lies within a distance of a line, to either side and around its ends, the edge included.
///
///     let road = try GeoLine([oslo, hamar])
///     GeoCorridor(road, widthMeters: 2_000).contains(eidsvoll)
///
/// A place lies inside exactly when its distance, rounded to the micrometre, is at most the width.
///
/// - Complexity: that of `ArcTree` for all questions.
public struct GeoCorridor: Sendable, Hashable {
    /// The line in the middle.
    public let line: GeoLine

    /// Metres to either side: more than 0, at most `maximumWidthMeters`.
    public let widthMeters: Double

    /// The greatest width in metres.
    public static let maximumWidthMeters = 1_000_000.0

    /// A chord to the line up to which every place is inside, and one from which on none is.
    private let inside, outside: Double

    /// What lies within so many metres of a line.
    public init(_ line: GeoLine, widthMeters: Double) {
        precondition(
            widthMeters > 0 && widthMeters <= Self.maximumWidthMeters,
            "a corridor \(widthMeters) m wide")
        self.line = line
        self.widthMeters = widthMeters
        let chord = 2 * Sphere.sine(widthMeters / (2 * Sphere.radiusMeters))
        inside = chord - GeoLine.chordSlack
        outside = chord + GeoLine.chordSlack
    }

    /// How far places are from the line.
    public var distance: GeoMeasure { .distanceFromLine(line) }

    /// How far along the line the place nearest to another is.
    public var along: GeoMeasure { .along(line) }

    /// Whether the place lies in the corridor or on its edge.
    public func contains(_ position: Coordinate) -> Bool {
        switch overlap(center: Sphere.unitVector(position), radius: 0) {
        case .none: false
        case .whole: true
        case .part: line.nearest(to: position).distance.isWithin(radiusMeters: widthMeters)
        }
    }

    /// How much of the part of the unit sphere that is within `radius`, in space, of a point near it
    /// lies in the corridor; `.part` also where it is not sure.
    ///
    /// Inequality: every place of that part is contained if it is `.whole`, none if it is `.none`.
    /// Proof: by the triangle inequality the distance in space of such a place to the line differs
    /// from that of the point by at most the radius; see `GeoLine.chordSlack` for rounding.
    public func overlap(center: SIMD3<Double>, radius: Double) -> Overlap {
        let chord = line.chord(to: center, below: outside + radius, enough: inside - radius)
        if chord <= inside - radius { return .whole }
        return chord < outside + radius ? .part : .none
    }

    /// Initializes a buffer with the arcs of the line that may matter to places within `radius`, in
    /// space, of a point near the unit sphere: to those in the corridor one of these is near enough.
    ///
    /// - Returns: how many there are; nil if the buffer cannot hold them.
    public func collectArcs(
        center: SIMD3<Double>, radius: Double, into buffer: UnsafeMutableBufferPointer<SingleArc>
    ) -> Int? {
        line.collectArcs(within: outside + radius, of: center, into: buffer)
    }

    /// Limits of squared distances to arcs, computed in single precision from sixteen points.
    ///
    /// Inequality: all places of the unit sphere within a radius of a point are contained if its
    /// squared distance to some arc is at most `inside`, and none if that to every arc is more than
    /// `outside`.
    public func singleLimits(
        radii: SIMD16<Float>
    ) -> (inside: SIMD16<Float>, outside: SIMD16<Float>) {
        let least = Float(inside) - SingleArc.error - radii
        let most = Float(outside) + SingleArc.error + radii
        return (
            (least * least).replacing(with: -1, where: least .<= 0), most * most
        )
    }

    /// About how much of the part of the unit sphere within `radius` of a point near it lies in the
    /// corridor, 0 through 1: as if the line ran straight.
    public func share(center: SIMD3<Double>, radius: Double) -> Double {
        let chord = line.chord(to: center, below: outside + radius)
        guard radius > 0 else { return chord < outside ? 1 : 0 }
        let covered = min(radius, chord + outside) - max(-radius, chord - outside)
        return max(0, covered / (2 * radius))
    }

    /// About how many nanoseconds it takes to tell whether a place lies inside.
    public var testNanoseconds: Double { line.searchNanoseconds }
}
