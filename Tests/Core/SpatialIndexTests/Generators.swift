import Geodesy
import SpatialIndex
import TestSupport

/// Sets of places that random numbers alone do not find.
enum PointDistribution: String, CaseIterable, Sendable {
    case uniform, cities, duplicates, poles, antimeridian, antipodes, equal, grid

    func position(_ random: inout SplitMix64) -> Coordinate {
        switch self {
        case .uniform: return Self.anywhere(&random)
        case .cities: return Self.city(&random)
        case .duplicates:
            return Coordinate(
                latitude: Double(random.below(3)), longitude: Double(random.below(3)))
        case .poles:
            let latitude = [90, -90, 89.9999, -89.999999, 90][random.below(5)]
            return Coordinate(latitude: latitude, longitude: random.number(-180...180))
        case .antimeridian:
            let longitude = [
                180, -180, random.number(179.99...180), random.number(-180 ... -179.99),
            ]
            return Coordinate(
                latitude: random.number(-1...1), longitude: longitude[random.below(4)])
        case .antipodes:
            let position = Coordinate(
                latitude: Double(random.below(20)) + random.number(0...1e-7),
                longitude: Double(random.below(20)))
            return random.below(2) == 0 ? position : position.antipode
        case .equal: return Coordinate(latitude: 35.5, longitude: 139.25)
        case .grid:
            return Coordinate(
                latitude: 50 + Double(random.below(30)) * 0.001,
                longitude: 8 + Double(random.below(30)) * 0.001)
        }
    }

    /// One point, or now and then several, some of them identical.
    func points(_ random: inout SplitMix64) -> [Coordinate] {
        guard random.below(3) == 0 else { return [position(&random)] }
        var points = (0..<1 + random.below(random.below(20) == 0 ? 100 : 5)).map { _ in
            position(&random)
        }
        if random.below(4) == 0 { points.append(points[0]) }
        return points
    }

    private static func anywhere(_ random: inout SplitMix64) -> Coordinate {
        Coordinate(latitude: random.number(-90...90), longitude: random.number(-180...180))
    }

    private static func city(_ random: inout SplitMix64) -> Coordinate {
        let centers = [
            (35.68, 139.69), (51.5, -0.12), (-33.87, 151.2), (64.15, -21.9), (0, -179.95),
        ]
        let (latitude, longitude) = centers[random.below(centers.count)]
        let spread = 0.1 * random.number(0...1) * random.number(0...1)
        return Coordinate(
            latitude: latitude + spread * random.number(-1...1),
            longitude: longitude + spread * random.number(-0.5...0.5))
    }

    /// A box of some size around one of the places; sometimes degenerate, over the antimeridian or
    /// the world.
    func box(_ random: inout SplitMix64) -> GeoBox {
        let a = position(&random)
        let b = position(&random)
        let south = min(a.latitude, b.latitude)
        let north = max(a.latitude, b.latitude)
        switch random.below(8) {
        case 0: return .world
        case 1: return GeoBox(south: south, west: a.longitude, north: north, east: a.longitude)
        case 2: return GeoBox(south: -90, west: 180, north: 90, east: 180)
        case 3: return GeoBox(south: -90, west: -180, north: 90, east: -180)
        case 4:
            let west = max(a.longitude, b.longitude)
            return GeoBox(south: south, west: west, north: 90, east: min(a.longitude, b.longitude))
        case 5: return GeoBox(south: -90, west: -180, north: north, east: b.longitude)
        default:
            return GeoBox(
                south: south, west: min(a.longitude, b.longitude), north: north,
                east: max(a.longitude, b.longitude))
        }
    }

    /// A radius from nothing to everything, and exactly or just under the distance of a point.
    func radiusMeters(
        around center: Coordinate, _ model: DistanceModel, _ random: inout SplitMix64
    ) -> Double {
        let exact = model.distance(center, position(&random)).meters
        switch random.below(7) {
        case 0: return 0
        case 1: return 20_015_115
        case 2: return exact
        case 3: return max(0, exact.nextDown)
        case 4: return random.number(0...20_000)
        case 5: return random.number(0...20_015_115)
        default: return random.number(0...50)
        }
    }
}
