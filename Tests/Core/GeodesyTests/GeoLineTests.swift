import Foundation
import TestSupport
import Testing

@testable import Geodesy

@Suite struct GeoLineTests {
    private typealias Position = (latitude: Double, longitude: Double)

    private static func line(_ positions: [Position]) throws -> GeoLine {
        try GeoLine(positions.map { Coordinate(latitude: $0.latitude, longitude: $0.longitude) })
    }

    /// Where one gets to from a place in a direction, about.
    private static func place(_ a: Position, _ bearing: Double, _ meters: Double) -> Position {
        let (angle, degree) = (meters / Sphere.radiusMeters, Double.pi / 180)
        let (latitude, east) = (a.latitude * degree, sin(bearing) * sin(angle))
        let north = cos(bearing) * sin(angle)
        let up = cos(latitude) * cos(angle) - sin(latitude) * north
        let z = sin(latitude) * cos(angle) + cos(latitude) * north
        let longitude = a.longitude + atan2(east, up) / degree
        // Towards a place's own latitude small steps would be lost in the arc sine.
        let rise = meters < 1 ? meters * cos(bearing) / Sphere.radiusMeters / degree : nil
        return (
            min(90, max(-90, rise.map { a.latitude + $0 } ?? asin(min(1, max(-1, z))) / degree)),
            longitude > 180 ? longitude - 360 : (longitude < -180 ? longitude + 360 : longitude)
        )
    }

    private static let starts: [Position] = [
        (90, 0), (-90, 77), (89.99999, 12), (0, 180), (0, -180), (12, 179.9999), (0, 0),
        (35.6, 139.7), (-45, -70), (60, 10),
    ]

    @Test func `a place along a line that is longer than any distance is the longest one`() throws {
        let (here, there) = (
            Coordinate(latitude: 0, longitude: 0), Coordinate(latitude: 0, longitude: 179.9999)
        )
        let end = Coordinate(latitude: 5, longitude: 0)
        let line = try GeoLine((0..<480_000).map { $0 % 2 == 0 ? here : there } + [end])
        #expect(line.lengthMeters > 9.3e12)
        let nearest = line.nearest(to: end)
        #expect(nearest.along == .longest && nearest.distance == .zero)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `distance and place along are exact to the micrometre, at every scale`(seed: UInt64) throws
    {
        var random = SplitMix64(seed: seed)
        var worst = (distance: 0.0, along: 0.0)
        for _ in 0..<20_000 {
            let a = random.pick(Self.starts)
            let length = min(pow(10, random.number(-3...7.4)), 20_010_000)
            let bearing = random.number(-.pi ... .pi)
            let b = Self.place(a, bearing, length)
            let beside = Self.place(a, bearing, length * random.number(-0.2...1.2))
            let off = min(pow(10, random.number(-4...7.4)), 20_000_000)
            let point = Self.place(beside, bearing + random.pick([-1, 1, 0.3]) * .pi / 2, off)
            let found = try Self.line([a, b]).nearest(
                to: Coordinate(latitude: point.latitude, longitude: point.longitude))
            let exact = OracleLine([a, b]).nearest(
                latitude: point.latitude, longitude: point.longitude)
            let error = abs(found.distance.meters - exact.exactMeters)
            worst.distance = max(worst.distance, error)
            #expect(error < 6e-7, "seed \(seed), \(point) from \(a), \(b): \(error) m")
            guard exact.exactMeters < 1_000_000 else { continue }
            let alongError = abs(found.along.meters - exact.exactAlong)
            worst.along = max(worst.along, alongError)
            #expect(alongError < 6e-7, "seed \(seed), \(point) from \(a), \(b): \(alongError) m")
        }
        // Rounding alone is off by half a micrometre.
        #expect(worst.distance > 4e-7 && worst.along > 4e-7, "\(worst)")
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `of many edges the nearest is found, the first of those equally near`(seed: UInt64) throws
    {
        var random = SplitMix64(seed: seed)
        for _ in 0..<300 {
            let around = (0..<3).map { _ in random.pick(Self.starts) }
            let generator = LineGenerator(positions: around)
            let positions =
                random.oneIn(20) ? generator.longLine(&random) : generator.line(&random)
            let line = try Self.line(positions)
            let edges = try zip(positions, positions.dropFirst()).map { try Self.line([$0, $1]) }
            for _ in 0..<20 {
                var point = random.pick(random.oneIn(2) ? positions : Self.starts)
                if !random.oneIn(4) {
                    point = Self.place(
                        point, random.number(-4...4), pow(10, random.number(-3...7)))
                }
                let place = Coordinate(latitude: point.latitude, longitude: point.longitude)
                // Each edge alone, and how far along the line its nearest place is.
                var (begin, all) = (0.0, [(distance: Distance, along: Double)]())
                for edge in edges {
                    let nearest = edge.nearest(to: place)
                    all.append((nearest.distance, begin + nearest.along.meters))
                    begin += edge.lengthMeters
                }
                let least = all.map(\.distance).min()!
                let found = line.nearest(to: place)
                let first = all.first { $0.distance == least }!
                let context = "seed \(seed), \(place) from \(positions)"
                #expect(found.distance == least, "\(context)")
                #expect(abs(found.along.meters - first.along) < 2e-6, "\(context)")
                #expect(found.along.meters <= line.lengthMeters + 1e-6, "\(context)")
            }
        }
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `from an end the distance is that between the two places, bit for bit`(seed: UInt64) throws
    {
        var random = SplitMix64(seed: seed)
        for _ in 0..<2_000 {
            let a = random.pick(Self.starts)
            let bearing = random.number(-.pi ... .pi)
            let b = Self.place(a, bearing, pow(10, random.number(-3...6.5)))
            let line = try Self.line([a, b])
            let end = line.positions[1]
            #expect(
                line.nearest(to: end) == .init(distance: .zero, along: .meters(line.lengthMeters)))
            // Behind the end, at more than a right angle to the edge.
            let back = Sphere.meters(line.positions[0], end)
            let point = Self.place(b, random.number(-.pi ... .pi), pow(10, random.number(-3...6)))
            let place = Coordinate(latitude: point.latitude, longitude: point.longitude)
            let found = line.nearest(to: place)
            guard found.along == .meters(back) else { continue }
            #expect(found.distance == Sphere.distance(end, place), "seed \(seed), \(place)")
        }
    }

    @Test func `equal positions are edges of no length`() throws {
        let still = try Self.line([(35, 139), (35, 139)])
        let place = Coordinate(latitude: 36, longitude: 139)
        #expect(still.lengthMeters == 0)
        #expect(still.nearest(to: place).distance == Sphere.distance(still.positions[0], place))
        for pair: [Position] in [
            [(0, 180), (0, -180)], [(90, 5), (90, -120)], [(-90, 5), (-90, 7)],
        ] {
            let line = try Self.line(pair + [(10, 180)])
            #expect(
                line.nearest(to: Coordinate(latitude: 10, longitude: -180)).along
                    == .meters(Sphere.meters(line.positions[1], line.positions[2])))
        }
    }

    @Test func `a line along the equator and over the pole is where it should be`() throws {
        let quarter = Sphere.radiusMeters * .pi / 2
        let equator = try Self.line([(0, -90), (0, 0), (0, 90)])
        let north = Coordinate(latitude: 10, longitude: 45)
        #expect(
            equator.nearest(to: north)
                == .init(distance: .meters(quarter / 9), along: .meters(quarter * 1.5)))
        let pole = try Self.line([(80, 10), (80, -170)])
        #expect(
            pole.nearest(to: Coordinate(latitude: 90, longitude: 33))
                == .init(distance: .zero, along: .meters(quarter / 9)))
        let fiji = try Self.line([(0, 179), (0, -179)])
        #expect(
            fiji.nearest(to: Coordinate(latitude: 0.9, longitude: -180))
                == .init(distance: .meters(quarter / 100), along: .meters(quarter / 90)))
    }

    @Test func `antipodes are refused, places a hair beside them are not`() throws {
        let pairs: [(Position, Position)] = [
            ((0, 0), (0, 180)), ((0, 180), (0, 0)), ((35, 139), (-35, -41)), ((90, 3), (-90, 7)),
            ((0, -90), (0, 90)), ((12.5, 179.25), (-12.5, -0.75)),
        ]
        for (a, b) in pairs {
            let error = #expect(throws: InvalidLine.self) { try Self.line([(1, 1), a, a, b]) }
            #expect(error?.position == 3, "\(a), \(b)")
            let beside = (latitude: b.latitude + (b.latitude > 0 ? -1e-12 : 1e-12), b.longitude)
            let line = try Self.line([a, beside])
            #expect(abs(line.lengthMeters - Sphere.radiusMeters * .pi) < 1e-3)
        }
    }

    @Test func `of several places the one nearest to the line is the one that counts`() throws {
        let line = try Self.line([(0, 0), (0, 10)])
        let places = [(1.0, 3.0), (0.5, 8), (-0.5, 6), (0.5, 6)].map {
            Coordinate(latitude: $0.0, longitude: $0.1)
        }
        let corridor = GeoCorridor(line, widthMeters: 1)
        #expect(corridor.distance.nearest(places) == line.nearest(to: places[1]).distance)
        #expect(corridor.along.nearest(places) == line.nearest(to: places[2]).along)
        #expect(corridor.along.nearest([]) == nil && corridor.distance.nearest([]) == nil)
        let circle = GeoCircle(places[0])
        #expect(circle.distance.nearest(places) == .zero)
    }

    @Test func `the examples on the cards come out as written`() throws {
        let oslo = Coordinate(latitude: 59.9139, longitude: 10.7522)
        let hamar = Coordinate(latitude: 60.7945, longitude: 11.068)
        let eidsvoll = Coordinate(latitude: 60.35, longitude: 10.92)
        let road = try GeoLine([oslo, hamar, Coordinate(latitude: 61.1153, longitude: 10.4662)])
        #expect((road.nearest(to: eidsvoll).along.meters / 1_000).rounded() == 49)
        #expect(GeoCorridor(road, widthMeters: 2_000).contains(eidsvoll))
    }
}
