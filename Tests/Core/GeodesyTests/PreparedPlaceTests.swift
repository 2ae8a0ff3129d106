import TestSupport
import Testing

@testable import Geodesy

@Suite struct PreparedPlaceTests {
    typealias Position = (longitude: Double, latitude: Double)

    private static func positions(_ positions: [Position]) -> [Coordinate] {
        positions.map { Coordinate(latitude: $0.latitude, longitude: $0.longitude) }
    }

    private static func rectangle(
        _ west: Double, _ south: Double, _ east: Double, _ north: Double
    ) -> [Position] {
        [(west, south), (east, south), (east, north), (west, north), (west, south)]
    }

    private static func polygon(_ rings: [Position]...) throws -> Geometry {
        try Geometry(.polygon, parts: [rings.map(positions)])
    }

    private static func line(_ line: [Position]) throws -> Geometry {
        try Geometry(.lineString, parts: [[positions(line)]])
    }

    @Test func `A geometry has the parts that it was made of, and no others are equal to it`()
        throws
    {
        let parts = [
            [
                Self.positions(Self.rectangle(0, 0, 9, 9)),
                Self.positions(Self.rectangle(2, 2, 3, 3)),
            ],
            [Self.positions(Self.rectangle(20, 0, 29, 9))],
        ]
        let geometry = try Geometry(.multiPolygon, parts: parts)
        #expect(geometry.parts == parts && geometry.positions.count == 15)
        let lines = [
            [Self.positions([(0, 0), (1, 1)])], [Self.positions([(2, 2), (180, 3), (4, 4)])],
        ]
        let line = try Geometry(.multiLineString, parts: lines)
        #expect(line.parts == lines)
        #expect(try line == Geometry(.multiLineString, parts: lines))
        let joined = [[lines[0][0] + lines[1][0]]]
        #expect(try line != Geometry(.multiLineString, parts: joined))
        let other = [lines[0], [Self.positions([(2, 2), (-180, 3), (4, 4)])]]
        #expect(try line != Geometry(.multiLineString, parts: other))
    }

    @Test func `What is no geometry is refused with the reason and its place`() {
        let bow: [Position] = [(0, 0), (1, 1), (1, 0), (0, 1), (0, 0)]
        let faults: [(Geometry.Kind, [[[Position]]], String, Int?, Int?)] = [
            (.polygon, [[bow]], "Self-intersection[0.5 0.5]", nil, nil),
            (.polygon, [[Self.rectangle(0, 0, 1, 1), []]], "Too few points", 0, 1),
            (.multiPolygon, [], "There is no polygon", nil, nil),
            (.multiLineString, [], "There is no line", nil, nil),
            (.lineString, [[[]]], "Too few points", 0, nil),
            (.lineString, [[[(3, 3)]]], "Too few points", 0, nil),
            (.multiLineString, [[[(0, 0), (1, 1)]], [[(180, 3), (-180, 3)]]], "Too few", 1, nil),
        ]
        for (kind, parts, reason, part, ring) in faults {
            do throws(InvalidGeometry) {
                _ = try Geometry(kind, parts: parts.map { $0.map(Self.positions) })
                Issue.record("\(parts) is taken for valid")
            } catch {
                #expect(error.reason.hasPrefix(reason), "\(error.reason)")
                #expect(error.part == part && error.ring == ring, "\(reason)")
            }
        }
        // What is known to be valid is laid out, and GEOS is not asked about it.
        for ring in [[(0, 0), (1, 1), (0, 0)], [(2, 2), (2, 2), (2, 2), (2, 2)]] as [[Position]] {
            #expect(throws: InvalidGeometry.self) {
                try Geometry(.polygon, parts: [[Self.positions(ring)]], isKnownToBeValid: true)
            }
        }
        #expect(throws: Never.self) {
            let flat = try Geometry(
                .polygon, parts: [[Self.positions([(0, 0), (1, 1), (2, 2), (0, 0)])]],
                isKnownToBeValid: true)
            let place = PreparedPlace(.geometry(flat))
            #expect(place.intersects(place) == true && place.isWithin(place) != nil)
        }
    }

    @Test func `A point lies in a polygon exactly where GeoPolygon has it`() throws {
        var random = SplitMix64(seed: 3)
        let places = (0..<8).map { _ in
            (latitude: random.number(-89...89), longitude: random.number(-180...180))
        }
        for round in 0..<60 {
            let generated = PolygonGenerator(positions: places).polygon(&random)
            let parts = generated.polygons.map { $0.map(Self.positions) }
            let polygon = try GeoPolygon(parts)
            let place = PreparedPlace(.geometry(try Geometry(.multiPolygon, parts: parts)))
            for vertex in parts.joined().joined() {
                let beside = Coordinate(
                    latitude: min(90, max(-90, vertex.latitude + random.number(-1...1))),
                    longitude: min(180, max(-180, vertex.longitude + random.number(-1...1))))
                for position in [vertex, beside, random.pick(places.map(Coordinate.init))] {
                    #expect(
                        place.contains(position) == polygon.contains(position),
                        "round \(round): \(position), \(generated.polygons)")
                }
            }
        }
    }

    @Test func `The shapes of queries are places, but for corridors and circles on the ellipsoid`()
        throws
    {
        let ring = Self.positions(Self.rectangle(170, 0, -170, 9))
        let (west, center) = (ring[0], Coordinate(latitude: 4, longitude: 180))
        let polygon = try #require(GeoPlace(.polygon(try GeoPolygon([[ring]]))))
        #expect(try polygon == .geometry(Geometry(.multiPolygon, parts: [[ring]])))
        #expect(PreparedPlace(polygon).contains(center))
        let circle = GeoCircle(center, radiusMeters: 9)
        #expect(GeoPlace(.circle(circle)) == .circle(circle))
        #expect(GeoPlace(.box(.world)) == .box(.world))
        #expect(GeoPlace(.circle(GeoCircle(center, radiusMeters: 9, model: .wgs84))) == nil)
        let corridor = GeoCorridor(try GeoLine([west, center]), widthMeters: 5)
        #expect(GeoPlace(.corridor(corridor)) == nil)
    }

    @Test(arguments: Seeds.first(6))
    func `The side of a line is that of whole numbers, however small the numbers are`(seed: UInt64)
    {
        var random = SplitMix64(seed: seed)
        for _ in 0..<3_000 {
            // Fifty-three bits, near one line.
            let limit = Int64(1) << 52
            var numbers = (0..<4).map { _ in Int64.random(in: -limit...limit, using: &random) }
            let share = Double(random.below(1_000)) / 1_000
            numbers += [0, 1].map { axis in
                let (a, b) = (Double(numbers[axis]), Double(numbers[axis + 2]))
                return Int64(a + share * (b - a)) + Int64(random.below(3)) - 1
            }
            let n = numbers.map { Int128($0) }
            let turn = (n[0] - n[4]) * (n[3] - n[5]) - (n[1] - n[5]) * (n[2] - n[4])
            for exponent in [-45, -500, -950] {
                let d = numbers.map {
                    Double(sign: .plus, exponent: exponent, significand: Double($0))
                }
                let sign = Orientation.sign(d[0], d[1], d[2], d[3], d[4], d[5])
                #expect(
                    (sign > 0) == (turn > 0) && (sign < 0) == (turn < 0), "seed \(seed), \(numbers)"
                )
            }
        }
    }

    @Test func `A long comparison ends when it is told to`() throws {
        func comb(_ teeth: Int, _ shift: Double) throws -> PreparedPlace {
            var ring: [Position] = [(0, shift)]
            for tooth in 0..<teeth {
                ring += [
                    (Double(tooth) / 100, 10 + shift), ((Double(tooth) + 0.5) / 100, 1 + shift),
                ]
            }
            ring += [(Double(teeth) / 100, shift), (0, shift)]
            return PreparedPlace(.geometry(try Self.polygon(ring)))
        }
        let (a, b) = (try comb(3_000, 0), try comb(3_000, -0.001))
        var asked = 0
        #expect(
            a.isWithin(a) {
                asked += 1
                return false
            } == true)
        #expect(asked > 3)
        #expect(a.isWithin(a) { true } == nil)
        #expect(a.intersects(b) == true && a.isWithin(b) == false)
        let line = PreparedPlace(.geometry(try Self.line([(-1, -1), (50, -1), (50, 30)])))
        #expect(line.intersects(a) == false)
    }

    // MARK: Pieces

    @Test(arguments: Seeds.first(6))
    func `The pieces hold a place, and it holds those that are whole`(seed: UInt64) throws {
        var random = SplitMix64(seed: 30 + seed)
        let places = (0..<6).map { _ in
            (latitude: random.number(-80...80), longitude: random.number(-180...180))
        }
        for round in 0..<12 {
            var parts = PolygonGenerator(positions: places).polygon(&random).polygons
            // Many positions, which lie on the edges as nearly as may be.
            let isFine = random.oneIn(2)
            if isFine {
                parts = parts.map { $0.map { ring in Self.refined(ring, 40) } }
            }
            guard
                let geometry = try? Geometry(
                    .multiPolygon, parts: parts.map { $0.map(Self.positions) })
            else { continue }
            let place = PreparedPlace(.geometry(geometry))
            let pieces = place.pieces(limit: 24)
            #expect(pieces.count <= 25, "seed \(seed), round \(round): \(pieces.count)")
            for _ in 0..<200 {
                let position = Coordinate(
                    latitude: random.number(-90...90), longitude: random.number(-180...180))
                let near = random.pick(geometry.positions)
                let beside = Coordinate(
                    latitude: min(90, max(-90, near.latitude + random.number(-2...2))),
                    longitude: min(180, max(-180, near.longitude + random.number(-2...2))))
                for position in [position, near, beside] {
                    let holding = pieces.filter { $0.box.contains(position) }
                    let isInside = place.contains(position)
                    let context = "seed \(seed), round \(round): \(position), \(parts)"
                    if isInside { #expect(!holding.isEmpty, "\(context)") }
                    if holding.contains(where: \.isWhole) { #expect(isInside, "\(context)") }
                    if isInside { #expect(place.bounds.contains(position), "\(context)") }
                }
            }
        }
    }

    private static func refined(_ ring: [Position], _ count: Int) -> [Position] {
        zip(ring, ring.dropFirst()).flatMap { a, b -> [Position] in
            guard abs(a.longitude - b.longitude) < 180 else { return [a] }
            return (0..<count).map { step in
                let share = Double(step) / Double(count)
                return (
                    a.longitude + share * (b.longitude - a.longitude),
                    a.latitude + share * (b.latitude - a.latitude)
                )
            }
        } + [ring[0]]
    }

    @Test
    func `A place of few positions is one piece, and one of many leaves out what lies beside it`()
        throws
    {
        let small = PreparedPlace(.geometry(try Self.polygon(Self.rectangle(170, 0, -170, 9))))
        #expect(
            small.pieces(limit: 64)
                == [.init(box: GeoBox(south: 0, west: 170, north: 9, east: -170), isWhole: false)])
        let ell = Self.refined([(0, 0), (20, 0), (20, 1), (1, 1), (1, 20), (0, 20), (0, 0)], 100)
        let pieces = PreparedPlace(.geometry(try Self.polygon(ell))).pieces(limit: 30)
        let corner = Coordinate(latitude: 15, longitude: 15)
        #expect(pieces.count > 20 && !pieces.contains { $0.box.contains(corner) })
        let disk = Self.refined(Self.rectangle(0, 0, 20, 20), 100)
        let whole = PreparedPlace(.geometry(try Self.polygon(disk))).pieces(limit: 30)
        #expect(whole.contains { $0.isWhole })
    }

    @Test func `The point on the surface is GEOS' own, over the antimeridian too`() throws {
        let zone = try Self.polygon(Self.rectangle(170, 0, -160, 9))
        #expect(zone.pointOnSurface == Coordinate(latitude: 4.5, longitude: -175))
        let ell = try Self.polygon([(0, 0), (20, 0), (20, 1), (1, 1), (1, 20), (0, 20), (0, 0)])
        let point = try #require(ell.pointOnSurface)
        #expect(PreparedPlace(.geometry(ell)).contains(point))
        let line = try Self.line([(170, 0), (-178, 1), (-165, 5)])
        #expect(line.pointOnSurface == Coordinate(latitude: 1, longitude: -178))
    }

    @Test func `A line may run around the earth more than once`() throws {
        let steps = (0..<30).map { step -> Position in
            ((Double(step) * 100).remainder(dividingBy: 360), Double(step))
        }
        let spiral = PreparedPlace(.geometry(try Self.line(steps)))
        for step in steps {
            let position = Coordinate(latitude: step.latitude, longitude: step.longitude)
            #expect(spiral.contains(position) && spiral.distance(from: position) == .zero)
        }
        #expect(spiral.isWithin(PreparedPlace(.box(.world))) == true)
        #expect(spiral.isWithin(spiral) == true)
        let part = PreparedPlace(.geometry(try Self.line(Array(steps[7...9]))))
        #expect(part.isWithin(spiral) == true && spiral.isWithin(part) == false)
    }

    @Test func `A shape as a place is prepared in little memory`() throws {
        let ring = Self.refined(Self.rectangle(0, 0, 1, 1), 7)
        let place = PreparedPlace(.geometry(try Self.polygon(ring)))
        #expect(place.byteCount < 2_000, "\(place.byteCount)")
    }
}
