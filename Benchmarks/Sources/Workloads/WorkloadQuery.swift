import Geodesy
import Glibc
import SpatialIndex
import SyntheticData

/// One query: a centre, a circle around it that holds a known number of objects, a box or corridor
/// of about as many, a category.
public struct WorkloadQuery: Sendable {
    public let center: MicroPoint
    /// On the sphere of 6,371,000 m. Lies halfway between the last object inside and the first
    /// outside, so that peers with another sphere and this radius scaled to it find the same.
    public let radiusMeters: Double
    /// Half the side of a square box.
    public let boxHalfMeters: Double
    /// Around a line through the centre; only where the workload asks for one.
    public let corridor: GeoCorridor?
    /// A number of `Dataset.categoryNames`.
    public let category: Int

    public var categoryName: String { Dataset.categoryNames[category] }

    /// The circle on the sphere.
    public var circle: GeoCircle { GeoCircle(center.coordinate, radiusMeters: radiusMeters) }

    /// The box in degrees.
    public var box: GeoBox { Self.box(center, boxHalfMeters) }

    /// A box in degrees that a circle around the centre lies in.
    public func box(around radiusMeters: Double) -> GeoBox {
        // At its poleward side a circle reaches farther in longitude than at its centre.
        let latitude = abs(center.coordinate.latitude)
        let farthest = min(89, latitude + radiusMeters / 111_000)
        let wider = cos(latitude * .pi / 180) / cos(farthest * .pi / 180)
        return Self.box(center, radiusMeters * max(1, wider) * 1.0001)
    }

    /// Queries for one workload.
    ///
    /// - Parameters:
    ///   - hits: objects in each circle; nil: as the workload says.
    ///   - count: how many queries; their centres lie near objects.
    public static func make(
        for workload: Workload, hits: Int? = nil, dataset: Dataset, index: PointIndex, count: Int,
        seed: UInt64
    ) -> [WorkloadQuery] {
        let hits = min(hits ?? workload.circleHits, dataset.count / 2)
        var random = SplitMix64(seed: seed ^ 0xce27e5)
        var queries: [WorkloadQuery] = []
        var attempts = 0
        while queries.count < count {
            attempts += 1
            let position = dataset.positions[random.below(dataset.count)].coordinate
            // Far enough from the poles and the antimeridian for peers that cannot cross them.
            guard abs(position.latitude) < 60, abs(position.longitude) < 165 else { continue }
            let center = MicroPoint(
                latitude: position.latitude + 0.01 * random.gaussian(),
                longitude: position.longitude + 0.01 * random.gaussian())
            let (radius, inside) = circle(of: hits, around: center, index)
            // Where many objects share one place a circle holds too many: rather elsewhere.
            guard inside <= hits * 3 / 2 || attempts > 50 * count else { continue }
            let half = workload == .q3 ? halfSide(of: hits, center, radius, index) : radius
            let corridor =
                workload == .q9
                ? GeoCorridor.around(center, reach: radius, hits: hits, index, &random) : nil
            queries.append(
                WorkloadQuery(
                    center: center, radiusMeters: radius, boxHalfMeters: half, corridor: corridor,
                    category: random.below(Dataset.categoryNames.count)))
        }
        return queries
    }

    /// The radius of a circle that holds so many objects, and how many it really holds.
    private static func circle(
        of hits: Int, around center: MicroPoint, _ index: PointIndex
    ) -> (radiusMeters: Double, inside: Int) {
        var walk = index.nearest(by: GeoCircle(center.coordinate).distance)
        var last = 0.0
        var inside = 0
        while let next = walk.next()?.distance.meters {
            // Of objects at one place all are inside.
            if inside >= hits && next > last + 0.01 { return ((last + next) / 2, inside) }
            last = next
            inside += 1
        }
        return (last + 1, inside)
    }

    /// By bisection: the count grows with the box.
    private static func halfSide(
        of hits: Int, _ center: MicroPoint, _ radius: Double, _ index: PointIndex
    ) -> Double {
        var low = 0.0
        var high = radius
        for _ in 0..<40 {
            let middle = (low + high) / 2
            let found = index.count(in: .box(box(center, middle)))
            if abs(found - hits) * 50 <= hits { return middle }
            if found < hits { low = middle } else { high = middle }
        }
        return high
    }

    private static func box(_ center: MicroPoint, _ halfMeters: Double) -> GeoBox {
        let position = center.coordinate
        let metersPerDegree = Sphere.radiusMeters * .pi / 180
        let north = halfMeters / metersPerDegree
        let east = north / cos(position.latitude * .pi / 180)
        return GeoBox(
            south: max(-90, position.latitude - north), west: max(-180, position.longitude - east),
            north: min(90, position.latitude + north), east: min(180, position.longitude + east))
    }
}
