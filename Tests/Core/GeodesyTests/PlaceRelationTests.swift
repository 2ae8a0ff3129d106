import Geodesy
import TestSupport
import Testing

@Suite struct PlaceRelationTests {
    /// Takes a grid into degrees, exactly: coordinates get as many digits as binary64 has, and what lay
    /// on one line still does.
    private struct Map {
        let (a, b, c, d): (Int, Int, Int, Int)
        let (unitX, unitY): (Double, Double)

        init(_ random: inout SplitMix64) {
            var entries: [Int]
            repeat {
                entries = (0..<4).map { _ in random.below(7) - 3 }
            } while entries[0] * entries[3] == entries[1] * entries[2]
            (a, b, c, d) = (entries[0], entries[1], entries[2], entries[3])
            // Forty bits or fewer, so that products with the grid's numbers round nothing.
            (unitX, unitY) = (
                Double(random.below(1 << 40) | 1) * 0x1p-40,
                Double(random.below(1 << 40) | 1) * 0x1p-41
            )
        }

        func callAsFunction(_ point: GridShape.Point) -> Coordinate {
            Coordinate(
                latitude: Double(c * point.x + d * point.y) * unitY,
                longitude: Double(a * point.x + b * point.y) * unitX)
        }
    }

    @Test(arguments: Seeds.first(12))
    func `Places on a grid meet and hold each other as rational arithmetic says`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        var (meeting, within) = (0, 0)
        for round in 0..<60 {
            let shapes = GridShapes(size: random.pick([4, 6, 10]))
            let a = shapes.shape(&random)
            var b = random.oneIn(2) ? shapes.shape(&random) : shapes.part(of: a, &random)
            if random.oneIn(4) { b = b.moved(x: shapes.size / 2, y: 1) }
            let map = Map(&random)
            let places = [
                PreparedPlace(.geometry(try a.geometry(map.callAsFunction))),
                PreparedPlace(.geometry(try b.geometry(map.callAsFunction))),
            ]
            let context = "seed \(seed), round \(round): \(a.parts) \(b.parts)"
            let meets = a.exact.intersects(b.exact)
            #expect(places[0].intersects(places[1]) == meets, "\(context)")
            #expect(places[1].intersects(places[0]) == meets, "\(context)")
            let holds = [b.exact.isWithin(a.exact), a.exact.isWithin(b.exact)]
            #expect(places[1].isWithin(places[0]) == holds[0], "second in first, \(context)")
            #expect(places[0].isWithin(places[1]) == holds[1], "first in second, \(context)")
            meeting += meets ? 1 : 0
            within += holds[0] || holds[1] ? 1 : 0
        }
        #expect(meeting > 20 && within > 5, "seed \(seed): \(meeting), \(within)")
    }

    @Test(arguments: Seeds.first(4))
    func `A place on a grid holds the points that rational arithmetic says`(seed: UInt64) throws {
        var random = SplitMix64(seed: 100 + seed)
        for round in 0..<20 {
            let shape = GridShapes(size: 8).shape(&random)
            let map = Map(&random)
            let place = PreparedPlace(.geometry(try shape.geometry(map.callAsFunction)))
            for x in 0...8 {
                for y in 0...8 {
                    #expect(
                        place.contains(map((x, y))) == shape.exact.contains(Ratio(x), Ratio(y)),
                        "seed \(seed), round \(round): \(x), \(y), \(shape.parts)")
                }
            }
        }
    }

    // MARK: Around the earth

    /// A grid around the earth: 64 columns, of which -32 and 32 are one, and 32 rows.
    private static func coordinate(
        _ point: GridShape.Point, _ random: inout SplitMix64
    ) -> Coordinate {
        var x = point.x
        while x > 32 { x -= 64 }
        while x < -32 { x += 64 }
        if abs(x) == 32, random.oneIn(2) { x = -x }
        return Coordinate(latitude: Double(point.y) * 5.625, longitude: Double(x) * 5.625)
    }

    /// The shape in one plane, so often that it lies wherever another may.
    private static func around(_ shape: ExactPlane) -> ExactPlane {
        ExactPlane((-1...1).map { shape.moved(by: 64 * $0) })
    }

    /// Narrow shapes near the antimeridian, halves that meet there, and bands and caps.
    private static func shape(_ random: inout SplitMix64) -> GridShape {
        func rectangle(_ west: Int, _ south: Int, _ east: Int, _ north: Int) -> [GridShape.Point] {
            [(west, south), (east, south), (east, north), (west, north), (west, south)]
        }
        let south = random.below(9) - 4
        let north = south + 1 + random.below(4)
        switch random.below(5) {
        case 0:
            return GridShape(
                kind: .multiPolygon,
                parts: [
                    [rectangle(28 + random.below(4), south, 32, north)],
                    [rectangle(-32, south - random.below(2), -30, north + random.below(2))],
                ])
        case 1:
            return GridShape(
                kind: .polygon,
                parts: [[rectangle(-32, random.oneIn(3) ? -16 : south, 32, north)]])
        default:
            let shape = GridShapes(size: 8).shape(&random)
            let (x, y) = (random.pick([24, 28, 32, -34, -32]), random.below(5) - 4)
            return shape.moved(x: x, y: y)
        }
    }

    @Test(arguments: Seeds.first(12))
    func `Places meet and hold each other across the antimeridian`(seed: UInt64) throws {
        var random = SplitMix64(seed: 200 + seed)
        var (meeting, within) = (0, 0)
        for round in 0..<20 {
            var shapes = [Self.shape(&random), Self.shape(&random)]
            let isWide = shapes[0].parts.joined().joined().contains { $0.x == -32 }
            if random.oneIn(2), !isWide {
                shapes[1] = GridShapes(size: 4).part(of: shapes[0], &random)
            }
            let isBand = shapes.map {
                $0.parts[0][0].contains { $0.x == -32 } && $0.parts.count == 1
            }
            let places = try zip(shapes, isBand).map { shape, isBand in
                // The spelling of the antimeridian matters to what spans all longitudes, and to halves.
                let isSpelled = isBand || shape.parts.count > 1
                return PreparedPlace(
                    .geometry(
                        try shape.geometry { point in
                            isSpelled && abs(point.x) == 32
                                ? Coordinate(
                                    latitude: Double(point.y) * 5.625,
                                    longitude: Double(point.x) * 5.625)
                                : Self.coordinate(point, &random)
                        }))
            }
            let context = "seed \(seed), round \(round): \(shapes[0].parts) \(shapes[1].parts)"
            let meets = shapes[0].exact.intersects(Self.around(shapes[1].exact))
            #expect(places[0].intersects(places[1]) == meets, "\(context)")
            #expect(places[1].intersects(places[0]) == meets, "\(context)")
            for (a, b) in [(0, 1), (1, 0)] {
                let holds = shapes[a].exact.isWithin(Self.around(shapes[b].exact))
                #expect(places[a].isWithin(places[b]) == holds, "\(a) in \(b), \(context)")
                within += holds ? 1 : 0
            }
            meeting += meets ? 1 : 0
        }
        #expect(meeting > 4, "seed \(seed): \(meeting), \(within)")
    }

    @Test func `A line may leave one polygon for another where they touch`() throws {
        func coordinates(_ positions: [(Double, Double)]) -> [Coordinate] {
            positions.map { Coordinate(latitude: $0.1, longitude: $0.0) }
        }
        let touching = PreparedPlace(
            .geometry(
                try Geometry(
                    .multiPolygon,
                    parts: [
                        [coordinates([(0, 0), (10, 0), (10, 10), (0, 10), (0, 0)])],
                        [coordinates([(10, 5), (20, 0), (20, 10), (10, 5)])],
                    ])))
        for (north, isWithin) in [(5.0, true), (5.0.nextUp, false), (6, false)] {
            let line = try Geometry(.lineString, parts: [[coordinates([(5, 5), (15, north)])]])
            #expect(PreparedPlace(.geometry(line)).isWithin(touching) == isWithin, "\(north)")
        }
        let bent = try Geometry(
            .lineString, parts: [[coordinates([(5, 6), (10, 5), (15, 4), (20, 0)])]])
        #expect(PreparedPlace(.geometry(bent)).isWithin(touching) == true)
    }

    @Test func `Parts that meet at the antimeridian leave no gap, and a band has no edge there`()
        throws
    {
        func place(_ kind: Geometry.Kind, _ parts: [[(Double, Double)]]) throws -> PreparedPlace {
            let rings = parts.map { ring in
                [ring.map { Coordinate(latitude: $0.1, longitude: $0.0) }]
            }
            return PreparedPlace(.geometry(try Geometry(kind, parts: rings)))
        }
        func rectangle(
            _ west: Double, _ south: Double, _ east: Double, _ north: Double
        ) -> [(Double, Double)] {
            [(west, south), (east, south), (east, north), (west, north), (west, south)]
        }
        // Of different heights, with a vertex in the middle of what they share.
        let halves = try place(
            .multiPolygon,
            [
                [(180, 5), (180, 10), (170, 10), (170, 0), (180, 0), (180, 5)],
                rectangle(-180, -3, -170, 8),
            ])
        let crossing = try place(.polygon, [rectangle(175, 2, -175, 7)])
        let atEdge = try place(.polygon, [rectangle(175, 0, -175, 8)])
        let tooHigh = try place(.polygon, [rectangle(175, 2, -175, 9)])
        let tooLow = try place(.polygon, [rectangle(175, -1, -175, 7)])
        #expect(crossing.isWithin(halves) == true && atEdge.isWithin(halves) == true)
        #expect(tooHigh.isWithin(halves) == false && tooLow.isWithin(halves) == false)
        #expect(halves.isWithin(crossing) == false)
        let around = try place(.polygon, [rectangle(165, -5, -165, 12)])
        #expect(halves.isWithin(around) == true && around.isWithin(halves) == false)
        // A notch that is closed by what lies beyond the antimeridian.
        let notched = try place(
            .multiPolygon,
            [
                [(170, 0), (180, 0), (180, 4), (178, 5), (180, 6), (180, 10), (170, 10), (170, 0)],
                rectangle(-180, 0, -170, 10),
            ])
        #expect(crossing.isWithin(notched) == false && crossing.intersects(notched) == true)
        #expect(try place(.polygon, [rectangle(175, 7, -175, 9)]).isWithin(notched) == true)
        let line = try place(.lineString, [[(175, 5), (-175, 5)]])
        let steep = try place(.lineString, [[(175, 5), (-175, 9)]])
        let along = try place(.lineString, [[(180, 0), (-180, 8)]])
        let beyond = try place(.lineString, [[(180, 0), (-180, 11)]])
        #expect(line.isWithin(halves) == true && steep.isWithin(halves) == false)
        #expect(along.isWithin(halves) == true && beyond.isWithin(halves) == false)
        let band = try place(.polygon, [rectangle(-180, -10, 180, 10)])
        #expect(halves.isWithin(band) == true && crossing.isWithin(band) == true)
        #expect(line.isWithin(band) == true && beyond.isWithin(band) == false)
        #expect(band.isWithin(band) == true && band.isWithin(halves) == false)
        // The seam of a band may lie elsewhere.
        let other = try place(
            .polygon,
            [
                [
                    (0, -10), (120, -10), (-120, -10), (0, -10), (0, 10), (-120, 10), (120, 10),
                    (0, 10), (0, -10),
                ]
            ])
        #expect(other.isWithin(band) == true && band.isWithin(other) == true)
        let overSeam = try place(.polygon, [rectangle(-5, -10, 5, 3)])
        #expect(overSeam.isWithin(other) == true && overSeam.isWithin(halves) == false)
        #expect(crossing.isWithin(other) == true && crossing.intersects(other) == true)
    }
}
