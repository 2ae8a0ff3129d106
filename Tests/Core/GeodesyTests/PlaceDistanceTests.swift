import Foundation
import Geodesy
import TestSupport
import Testing

@Suite struct PlaceDistanceTests {
    private static func line(_ a: Coordinate, _ b: Coordinate) throws -> PreparedPlace {
        PreparedPlace(.geometry(try Geometry(.lineString, parts: [[[a, b]]])))
    }

    /// The least or greatest distance by samples of the edge, and there by ever closer ones.
    private static func sampled(
        _ position: Coordinate, _ a: Coordinate, _ b: Coordinate, isGreatest: Bool
    ) -> Double {
        var east = b.longitude - a.longitude
        if east > 180 { east -= 360 }
        if east < -180 { east += 360 }
        func distance(_ share: Double) -> Double {
            let longitude = (a.longitude + share * east).remainder(dividingBy: 360)
            let latitude = a.latitude + share * (b.latitude - a.latitude)
            let meters = Sphere.meters(
                position, Coordinate(latitude: min(90, max(-90, latitude)), longitude: longitude))
            return isGreatest ? -meters : meters
        }
        let count = 1_000
        let samples = (0...count).map { distance(Double($0) / Double(count)) }
        // Each sample that is as near as its neighbours may have a place that is nearer beside it.
        var best = samples.min()!
        for index in 0...count {
            let neighbours = [max(0, index - 1), min(count, index + 1)]
            guard neighbours.allSatisfy({ samples[index] <= samples[$0] }) else { continue }
            var (low, high) = (
                Double(neighbours[0]) / Double(count), Double(neighbours[1]) / Double(count)
            )
            for _ in 0..<80 {
                let third = (high - low) / 3
                if distance(low + third) < distance(high - third) {
                    high -= third
                } else {
                    low += third
                }
            }
            best = min(best, distance(low))
        }
        return abs(best)
    }

    /// Places with bounds, poles and the antimeridian among them.
    private static func position(_ random: inout SplitMix64) -> Coordinate {
        let latitude = random.pick([
            random.number(-90...90), random.number(-1...1), 90, -90, 0,
            90 - random.number(0...0.001),
        ])
        return Coordinate(
            latitude: latitude,
            longitude: random.pick([
                random.number(-180...180), random.number(-1...1), 180, -180, 0, 179.999, -90,
            ]))
    }

    @Test(arguments: Seeds.first(6))
    func `Distances to an edge are within a millimetre of those of many samples`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        for round in 0..<60 {
            let a = Self.position(&random)
            var b = Self.position(&random)
            if random.oneIn(2) {
                let size = random.pick([1e-7, 1e-4, 0.1, 10])
                b = Coordinate(
                    latitude: min(90, max(-90, a.latitude + size * random.number(-1...1))),
                    longitude: min(180, max(-180, a.longitude + size * random.number(-1...1))))
            }
            var position = random.pick([a, b, a.antipode, Self.position(&random)])
            if random.oneIn(2) {
                let size = random.pick([1e-7, 1e-4, 0.1, 10])
                position = Coordinate(
                    latitude: min(90, max(-90, position.latitude + size * random.number(-1...1))),
                    longitude: min(
                        180, max(-180, position.longitude + size * random.number(-1...1))))
            }
            guard a != b, let place = try? Self.line(a, b) else { continue }
            let context = "seed \(seed), round \(round): \(position) from \(a) to \(b)"
            let least = Self.sampled(position, a, b, isGreatest: false)
            #expect(abs(place.distance(from: position).meters - least) < 1e-3, "\(context)")
            let greatest = Self.sampled(position, a, b, isGreatest: true)
            #expect(
                abs(place.greatestDistance(from: position).meters - greatest) < 1e-3, "\(context)")
        }
    }

    @Test(arguments: Seeds.first(4))
    func `Of many edges the nearest and the farthest count, and of vertices the very distance`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: 50 + seed)
        for round in 0..<10 {
            let count = random.pick([2, 20, 200])
            let size = random.pick([0.001, 1, 40])
            let middle = Self.position(&random)
            var vertices: [Coordinate] = []
            for _ in 0..<count {
                let longitude = middle.longitude + random.number(-size...size)
                vertices.append(
                    Coordinate(
                        latitude: min(90, max(-90, middle.latitude + random.number(-size...size))),
                        longitude: longitude.remainder(dividingBy: 360)))
            }
            guard let geometry = try? Geometry(.lineString, parts: [[vertices]]) else { continue }
            let place = PreparedPlace(.geometry(geometry))
            for _ in 0..<3 {
                let position = random.oneIn(3) ? random.pick(vertices) : Self.position(&random)
                let edges = Array(zip(vertices, vertices.dropFirst()))
                func all(_ isGreatest: Bool) -> [Double] {
                    edges.map { Self.sampled(position, $0, $1, isGreatest: isGreatest) }
                }
                let context = "seed \(seed), round \(round): \(position), \(vertices)"
                if count < 100 {
                    let (least, greatest) = (all(false).min()!, all(true).max()!)
                    #expect(abs(place.distance(from: position).meters - least) < 1e-3, "\(context)")
                    #expect(
                        abs(place.greatestDistance(from: position).meters - greatest) < 1e-3,
                        "\(context)")
                }
                let exact = vertices.map { Sphere.distance(position, $0) }
                let least = place.distance(from: position)
                #expect(least <= exact.min()!, "\(context)")
                let greatest = place.greatestDistance(from: position)
                #expect(greatest >= exact.max()!, "\(context)")
            }
        }
    }

    private static func rectangle(
        _ west: Double, _ south: Double, _ east: Double, _ north: Double
    ) throws -> PreparedPlace {
        let corners = [(west, south), (east, south), (east, north), (west, north), (west, south)]
        let ring = corners.map { Coordinate(latitude: $0.1, longitude: $0.0) }
        return PreparedPlace(.geometry(try Geometry(.polygon, parts: [[ring]])))
    }

    private static func circle(_ latitude: Double, _ longitude: Double, _ radius: Double)
        -> PreparedPlace
    {
        let center = Coordinate(latitude: latitude, longitude: longitude)
        return PreparedPlace(.circle(GeoCircle(center, radiusMeters: radius)))
    }

    @Test func `The distance is 0 inside, and that of an edge or vertex outside`() throws {
        let zone = try Self.rectangle(170, -10, -170, 10)
        for (latitude, longitude) in [(0.0, 180.0), (10, -175), (-10, 170)] {
            #expect(
                zone.distance(from: Coordinate(latitude: latitude, longitude: longitude)) == .zero)
        }
        let east = Coordinate(latitude: 12, longitude: -168)
        #expect(
            zone.distance(from: east)
                == Sphere.distance(east, Coordinate(latitude: 10, longitude: -170)))
        let far = zone.greatestDistance(from: Coordinate(latitude: 0, longitude: 0))
        #expect(far == .meters(.pi * Sphere.radiusMeters))
    }

    @Test func `Circles meet shapes and lie in them as the distances say`() throws {
        let zone = try Self.rectangle(10, 50, 20, 60)
        let center = Coordinate(latitude: 49, longitude: 10)
        let corner = Coordinate(latitude: 50, longitude: 10)
        let rim = Sphere.distance(center, corner).meters
        // The rim passes through a vertex.
        #expect(zone.intersects(Self.circle(49, 10, rim)) == true)
        #expect(Self.circle(49, 10, rim).intersects(zone) == true)
        #expect(zone.intersects(Self.circle(49, 10, rim - 1e-6)) == false)
        let greatest = zone.greatestDistance(from: center).meters
        #expect(zone.isWithin(Self.circle(49, 10, greatest)) == true)
        #expect(zone.isWithin(Self.circle(49, 10, greatest - 1e-6)) == false)
        let inner = Coordinate(latitude: 55, longitude: 11)
        let edge = Sphere.meters(inner, Coordinate(latitude: 55, longitude: 10))
        #expect(Self.circle(55, 11, edge * 0.99).isWithin(zone) == true)
        #expect(Self.circle(55, 11, edge * 1.01).isWithin(zone) == false)
        #expect(Self.circle(55, 9, 10).isWithin(zone) == false)
        #expect(Self.circle(0, 0, 5).isWithin(Self.circle(0, 0, 5)) == true)
        #expect(Self.circle(0, 0.00001, 5).isWithin(Self.circle(0, 0, 6)) == false)
        #expect(Self.circle(0, 0.00001, 5).isWithin(Self.circle(0, 0, 6.2)) == true)
        #expect(Self.circle(0, 0, 5).distance(from: corner).meters > 5e6)
        #expect(
            Self.circle(50, 10, 5).distance(from: center)
                == .meters(Sphere.meters(center, corner) - 5))
    }

    @Test func `A circle may lie over the antimeridian or a pole within an area around the earth`()
        throws
    {
        let band = try Self.rectangle(-180, -10, 180, 10)
        #expect(Self.circle(0, 180, 1_000_000).isWithin(band) == true)
        #expect(Self.circle(1, 179, 1_000_000).isWithin(band) == true)
        #expect(Self.circle(2, 180, 1_000_000).isWithin(band) == false)
        let cap = try Self.rectangle(-180, 80, 180, 90)
        #expect(Self.circle(89, 33, 1_000_000).isWithin(cap) == true)
        #expect(Self.circle(89, 33, 1_000_001).isWithin(cap) == true)
        #expect(Self.circle(88, 180, 1_000_000).isWithin(cap) == false)
        let wedge = try Self.rectangle(0, 80, 90, 90)
        #expect(Self.circle(89, 45, 100_000).isWithin(wedge) == false)
        #expect(Self.circle(89, 45, 70_000).isWithin(wedge) == true)
        let halves = PreparedPlace(
            .geometry(
                try Geometry(
                    .multiPolygon,
                    parts: [
                        [(170.0, 180.0, 0.0)], [(-180.0, -170.0, -5.0)],
                    ].map { rectangles in
                        rectangles.map { west, east, south in
                            [(west, south), (east, south), (east, 10), (west, 10), (west, south)]
                                .map {
                                    Coordinate(latitude: $0.1, longitude: $0.0)
                                }
                        }
                    })))
        #expect(Self.circle(5, 180, 500_000).isWithin(halves) == true)
        #expect(Self.circle(-1, -178, 100_000).isWithin(halves) == true)
        #expect(Self.circle(-1, -179.5, 100_000).isWithin(halves) == false)
        let world = try Self.rectangle(-180, -90, 180, 90)
        #expect(Self.circle(90, 0, 1_000_000).isWithin(world) == true)
    }

    @Test func `A box is a rectangle in degrees, a line or a point`() throws {
        let box = PreparedPlace(.box(GeoBox(south: -10, west: 170, north: 10, east: -170)))
        #expect(box.intersects(try Self.rectangle(-170, 10, -160, 20)) == true)
        #expect(try Self.rectangle(175, -5, -175, 5).isWithin(box) == true)
        let meridian = PreparedPlace(.box(GeoBox(south: -10, west: 180, north: 10, east: -180)))
        #expect(meridian.isWithin(box) == true && box.isWithin(meridian) == false)
        #expect(meridian.contains(Coordinate(latitude: 0, longitude: -180)))
        let point = PreparedPlace(.box(GeoBox(south: 1, west: 1, north: 1, east: 1)))
        #expect(point.contains(Coordinate(latitude: 1, longitude: 1)))
        let equator = PreparedPlace(.box(GeoBox(south: 0, west: -180, north: 0, east: 180)))
        #expect(equator.contains(Coordinate(latitude: 0, longitude: 33)))
        #expect(equator.isWithin(PreparedPlace(.box(.world))) == true)
        #expect(
            try Self.line(
                Coordinate(latitude: 0, longitude: 170), Coordinate(latitude: 0, longitude: -170)
            ).isWithin(equator) == true)
    }
}
