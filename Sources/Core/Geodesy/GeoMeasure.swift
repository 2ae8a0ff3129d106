/// How far places lie from something, or how far along it: what a query reports and orders by.
///
///     GeoMeasure.distance(from: DistanceModel.Origin(oslo, .sphere)).distance(to: bergen)
///
/// The unit is the distance rounded to the micrometre, whatever it is measured from.
public enum GeoMeasure: Sendable, Hashable {
    /// From a place, by its model.
    case distance(from: DistanceModel.Origin)
    /// From the nearest place of a line.
    case distanceFromLine(GeoLine)
    /// From the beginning of a line to its nearest place, along it.
    case along(GeoLine)

    /// How far the place lies.
    public func distance(to position: Coordinate) -> Distance {
        switch self {
        case .distance(let origin): origin.distance(to: position)
        case .distanceFromLine(let line): line.distance(to: position)
        case .along(let line): line.nearest(to: position).along
        }
    }

    /// Of several places: how far the nearest lies, nil without any. Along a line it is how far along
    /// the one lies that is nearest to the line; if several are equally near, the first along it.
    public func nearest(_ positions: some Collection<Coordinate>) -> Distance? {
        switch self {
        case .distance, .distanceFromLine: positions.lazy.map(distance(to:)).min()
        case .along(let line):
            positions.lazy.map(line.nearest(to:))
                .min { ($0.distance, $0.along) < ($1.distance, $1.along) }?.along
        }
    }

    /// About how many nanoseconds one distance takes.
    public var nanoseconds: Double {
        switch self {
        case .distance(let origin): origin.model == .sphere ? 60 : 1_000
        case .distanceFromLine(let line), .along(let line): line.nearestNanoseconds
        }
    }
}
