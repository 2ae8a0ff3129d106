/// What lies within a distance of a line, to either side and around its ends, the edge included.
///
///     let road = try GeoLine([oslo, hamar])
///     GeoCorridor(road, widthMeters: 2_000).contains(eidsvoll)
///
/// A place lies inside exactly when its distance, rounded to the micrometre, is at most the width.
///
/// - Complexity: `contains` is as `GeoLine.nearest`. For many places there is `CorridorSearch`.
public struct GeoCorridor: Sendable, Hashable {
    /// The line in the middle.
    public let line: GeoLine

    /// Metres to either side: more than 0, at most `maximumWidthMeters`.
    public let widthMeters: Double

    /// The greatest width in metres.
    public static let maximumWidthMeters = 1_000_000.0

    /// A chord to the line up to which every place is inside, and one from which on none is.
    let inside, outside: Float

    /// What lies within so many metres of a line.
    public init(_ line: GeoLine, widthMeters: Double) {
        precondition(
            widthMeters > 0 && widthMeters <= Self.maximumWidthMeters,
            "a corridor \(widthMeters) m wide")
        self.line = line
        self.widthMeters = widthMeters
        let chord = 2 * Sphere.sine(widthMeters / (2 * Sphere.radiusMeters))
        inside = Float(chord - GeoLine.chordSlack).nextDown
        outside = Float(chord + GeoLine.chordSlack).nextUp
    }

    /// How far places are from the line.
    public var distance: GeoMeasure { .distanceFromLine(line) }

    /// How far along the line the place nearest to another is.
    public var along: GeoMeasure { .along(line) }

    /// Whether the place lies in the corridor or on its edge.
    public func contains(_ position: Coordinate) -> Bool {
        line.prepared.tree.withGroups { groups in
            contains(position, groups) { $0.lookEverywhere() }
        }
    }

    /// - Parameter look: looks at what may be near the place.
    @inline(__always)
    func contains(
        _ position: Coordinate, _ groups: StripGroups, _ look: (inout NearestArc) -> Void
    ) -> Bool {
        var search = NearestArc(
            line.prepared, groups, to: position, within: outside, enough: inside,
            measuresAlong: false)
        look(&search)
        return search.isOver
            || search.nearest.map { $0.distance.isWithin(radiusMeters: widthMeters) } ?? false
    }

    /// About how many nanoseconds it takes to tell whether a place lies inside.
    public var testNanoseconds: Double { line.searchNanoseconds }
}
