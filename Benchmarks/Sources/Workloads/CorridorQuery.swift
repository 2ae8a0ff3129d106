import Geodesy
import Glibc
import SpatialIndex
import SyntheticData

extension GeoCorridor {
    private static let positions = 100

    /// How far a line may go ahead from its centre: so those of sparse data too stay far from the
    /// poles and the antimeridian.
    private static let farthestMeters = 500_000.0

    /// A corridor that holds so many objects, around a winding line through a centre.
    ///
    /// - Parameter reach: metres from the centre that hold as many objects; the line goes twice as
    ///   far to both sides, if it may.
    static func around(
        _ center: MicroPoint, reach: Double, hits: Int, _ index: PointIndex,
        _ random: inout SplitMix64
    ) -> GeoCorridor {
        let half = min(2 * reach, farthestMeters)
        let line = winding(center.coordinate, half, &random)
        var width = half / 16
        var distances: [Distance] = []
        while true {
            let corridor = GeoCorridor(line, widthMeters: min(width, maximumWidthMeters))
            distances.removeAll(keepingCapacity: true)
            index.visit(in: .corridor(corridor), by: corridor.distance) {
                distances += $0.map(\.distance)
                return true
            }
            if distances.count > hits + hits / 10 || width > maximumWidthMeters { break }
            width *= 2
        }
        return GeoCorridor(line, widthMeters: middle(after: hits, distances))
    }

    /// Halfway between the last object inside and the first outside, as with circles.
    private static func middle(after hits: Int, _ distances: [Distance]) -> Double {
        let meters = distances.map(\.meters).sorted()
        for (last, next) in zip(meters, meters.dropFirst()).dropFirst(max(0, hits - 1))
        where next > last + 0.01 { return (last + next) / 2 }
        return maximumWidthMeters
    }

    /// Goes straight through the centre, but for steps to its sides.
    private static func winding(
        _ center: Coordinate, _ half: Double, _ random: inout SplitMix64
    ) -> GeoLine {
        let metersPerDegree = Sphere.radiusMeters * .pi / 180
        let heading = random.number(0...(2 * .pi))
        let step = 2 * half / Double(positions - 1)
        var beside = 0.0
        let line = (0..<positions).map { number in
            let ahead = Double(number) * step - half
            beside += 0.7 * step * random.gaussian()
            let north = ahead * cos(heading) - beside * sin(heading)
            let east = ahead * sin(heading) + beside * cos(heading)
            return MicroPoint(
                latitude: center.latitude + north / metersPerDegree,
                longitude: center.longitude + east / metersPerDegree
                    / cos(center.latitude * .pi / 180)
            ).coordinate
        }
        do { return try GeoLine(line) } catch { preconditionFailure("an edge between antipodes") }
    }
}
