/// How far places lie from something: what a query reports, orders by and walks along.
///
///     GeoMeasure.distance(from: DistanceModel.Origin(oslo, .sphere)).distance(to: bergen)
///
/// The unit is the distance rounded to the micrometre, whatever it is measured from.
public enum GeoMeasure: Sendable, Hashable {
    /// From a place, by its model.
    case distance(from: DistanceModel.Origin)

    /// How far the place lies.
    public func distance(to position: Coordinate) -> Distance {
        switch self {
        case .distance(let origin): origin.distance(to: position)
        }
    }

    /// Eight distances in metres, not yet rounded to a micrometre: of those that `distance(to:)`
    /// measures one by one, rounded, nil where they have to be.
    @inline(__always)
    public func meters(
        toLatitudes latitudes: SIMD8<Double>, longitudes: SIMD8<Double>
    ) -> SIMD8<Double>? {
        switch self {
        case .distance(let origin):
            origin.meters(toLatitudes: latitudes, longitudes: longitudes)
        }
    }

    /// About how many nanoseconds one distance takes.
    public var nanoseconds: Double {
        switch self {
        case .distance(let origin): origin.model == .sphere ? 60 : 1_000
        }
    }
}
