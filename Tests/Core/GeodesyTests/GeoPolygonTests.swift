import Geodesy
import TestSupport
import Testing

@Suite struct GeoPolygonTests {
    typealias Position = (longitude: Double, latitude: Double)

    private static func rings(_ rings: [[Position]]) -> [[Coordinate]] {
        rings.map { ring in
            ring.map { Coordinate(latitude: $0.latitude, longitude: $0.longitude) }
        }
    }

    private static func polygon(_ rings: [Position]...) throws -> GeoPolygon {
        try GeoPolygon([Self.rings(rings)])
    }

    private static func holds(_ polygon: GeoPolygon, _ latitude: Double, _ longitude: Double)
        -> Bool
    {
        polygon.contains(Coordinate(latitude: latitude, longitude: longitude))
    }

    private static func rectangle(
        _ west: Double, _ south: Double, _ east: Double, _ north: Double
    ) -> [Position] {
        [(west, south), (east, south), (east, north), (west, north), (west, south)]
    }

    @Test func `edges and vertices are inside, also those of holes`() throws {
        let polygon = try Self.polygon(Self.rectangle(0, 0, 10, 10), Self.rectangle(2, 2, 4, 4))
        for (latitude, longitude) in [
            (0.0, 0.0), (10, 10), (5, 0), (0, 7.3), (1, 1), (2, 3), (4, 4),
        ] {
            #expect(Self.holds(polygon, latitude, longitude))
        }
        for (latitude, longitude) in [
            (3.0, 3.0), (2.0.nextUp, 2.0.nextUp), (-1e-300, 5), (5, 10.0.nextUp),
        ] {
            #expect(!Self.holds(polygon, latitude, longitude))
        }
    }

    @Test func `an edge is straight in degrees, not a great circle`() throws {
        let polygon = try Self.polygon([(0, 50), (90, 50), (45, 80), (0, 50)])
        #expect(Self.holds(polygon, 50, 45) && !Self.holds(polygon, 49.999, 45))
    }

    @Test func `an edge longer than 180 degrees crosses the antimeridian`() throws {
        let fiji = try Self.polygon(Self.rectangle(176, -21, -178, -12))
        for longitude in [176, 179, 180, -180, -178.0] { #expect(Self.holds(fiji, -18, longitude)) }
        for longitude in [175.9, -177.9, 0] { #expect(!Self.holds(fiji, -18, longitude)) }
        #expect(fiji.boxes == [GeoBox(south: -21, west: 176, north: -12, east: -178)])
        let half = try Self.polygon(Self.rectangle(-180, 0, 0, 10))
        #expect(Self.holds(half, 5, 180) && Self.holds(half, 5, -90) && !Self.holds(half, 5, 90))
    }

    @Test(arguments: [[180, 180.0], [180, -180], [-180, 180], [-180, -180]])
    func `a vertex on the antimeridian may be spelled either way`(edge: [Double]) throws {
        let west = try Self.polygon([(170, 0), (edge[0], 0), (edge[1], 10), (170, 10), (170, 0)])
        let east = try Self.polygon([
            (edge[0], 0), (-170, 0), (-170, 10), (edge[1], 10), (edge[0], 0),
        ])
        for longitude in [180.0, -180] {
            #expect(Self.holds(west, 5, longitude) && Self.holds(east, 5, longitude))
        }
        #expect(Self.holds(west, 5, 175) && !Self.holds(west, 5, -175) && !Self.holds(west, 5, 0))
        #expect(Self.holds(east, 5, -175) && !Self.holds(east, 5, 175) && !Self.holds(east, 5, 0))
    }

    @Test func `both spellings of one place are one vertex where the ring needs no more`() throws {
        let polygon = try Self.polygon([
            (170, 0), (180, 0), (-180, 0), (-170, 0), (-170, 10), (-180, 10), (180, 10), (170, 10),
            (170, 0),
        ])
        #expect(Self.holds(polygon, 5, 180) && Self.holds(polygon, 5, -172))
        #expect(!Self.holds(polygon, 5, 0))
    }

    @Test func `from -180 to 180 is every longitude where the ring is none without`() throws {
        let band = try Self.polygon(Self.rectangle(-180, -20, 180, 20))
        let world = try Self.polygon(Self.rectangle(-180, -90, 180, 90))
        for longitude in [-180, -1, 0, 91, 180.0] {
            #expect(Self.holds(band, 20, longitude) && !Self.holds(band, 20.1, longitude))
            #expect(Self.holds(world, 90, longitude) && Self.holds(world, -90, longitude))
        }
        #expect(world.boxes == [.world])
        let cap = try Self.polygon([
            (-180, 70), (-60, 60), (60, 65), (180, 70), (180, 90), (-180, 90), (-180, 70),
        ])
        #expect(Self.holds(cap, 90, 33) && Self.holds(cap, 70, -180) && Self.holds(cap, 71, 179))
        #expect(!Self.holds(cap, 60, 60) && !Self.holds(cap, -90, 33))
    }

    @Test func `polygons far apart have boxes of their own`() throws {
        let positions: [(Double, Double)] = [(-100, -90), (10, 20), (15, 30), (179, -179)]
        let polygon = try GeoPolygon(
            positions.map { Self.rings([Self.rectangle($0, 0, $1, 10)]) }
                .enumerated().map { index, rings in
                    rings.map { ring in
                        ring.map {
                            Coordinate(
                                latitude: $0.latitude + 20 * Double(index), longitude: $0.longitude)
                        }
                    }
                })
        #expect(
            polygon.boxes == [
                GeoBox(south: 0, west: -100, north: 10, east: -90),
                GeoBox(south: 20, west: 10, north: 50, east: 30),
                GeoBox(south: 60, west: 179, north: 70, east: -179),
            ])
    }

    static let invalid: [([[[Position]]], String, Int?, Int?)] = [
        ([], "There is no polygon", nil, nil), ([[]], "The polygon has no ring", 0, nil),
        ([[[(0, 0), (1, 0), (0, 0)]]], "Too few points", 0, 0), ([[[]]], "Too few points", 0, 0),
        ([[[(0, 0), (0, 0), (0, 0), (0, 0)]]], "Too few points in geometry component", nil, nil),
        (
            [[[(0, 0), (1, 0), (1, 1), (0, 1)]]],
            "Points of LinearRing do not form a closed linestring", 0, 0
        ),
        ([[[(0, 0), (1, 1), (1, 0), (0, 1), (0, 0)]]], "Self-intersection[0.5 0.5]", nil, nil),
        ([[rectangle(0, 0, 9, 9), rectangle(20, 2, 30, 3)]], "Hole lies outside shell", nil, nil),
        ([[rectangle(0, 0, 9, 9), rectangle(2, 2, 12, 3)]], "Self-intersection", nil, nil),
        ([[rectangle(0, 0, 9, 9)], [rectangle(5, 5, 12, 12)]], "Self-intersection", nil, nil),
        (
            [[rectangle(170, 0, -170, 9)], [rectangle(-178, -5, -172, 12)]], "Self-intersection",
            nil, nil
        ),
        (
            [[rectangle(-175, 0, -170, 9)], [rectangle(170, 0, -175, 9)]], "Self-intersection",
            nil, nil
        ),
        (
            [[rectangle(0, 0, 9, 9), [(1, 1), (2, 1), (2, 2), (1, 2)]]],
            "Points of LinearRing do not form a closed linestring", 0, 1
        ),
        ([[[(0, 80), (120, 80), (-120, 80), (0, 80)]]], "The ring winds around a pole", 0, 0),
        (
            [[rectangle(0, 0, 9, 9)], [[(0, 80), (-120, 80), (120, 80), (0, 80)]]],
            "The ring winds around a pole", 1, 0
        ),
        (
            [
                [
                    [
                        (0, 0), (100, 0), (-160, 0), (-60, 0), (40, 0), (40, 1), (-60, 1),
                        (-160, 1),
                        (100, 1), (0, 1), (0, 0),
                    ]
                ]
            ], "The ring spans more than 360 degrees of longitude", 0, 0
        ),
    ]

    @Test func `what is no polygon is refused with the reason`() {
        for (polygons, reason, polygon, ring) in Self.invalid {
            do {
                _ = try GeoPolygon(polygons.map(Self.rings))
                Issue.record("\(polygons) is taken for valid")
            } catch {
                #expect(error.reason.hasPrefix(reason), "\(error.reason)")
                #expect(error.polygon == polygon && error.ring == ring, "\(reason)")
            }
        }
    }

    @Test func `halves may meet at the antimeridian, beside a polygon that crosses it`()
        throws
    {
        let polygon = try GeoPolygon(
            [
                Self.rectangle(170, 0, 180, 9), Self.rectangle(-180, 0, -170, 9),
                Self.rectangle(165, 20, -165, 29),
            ].map { Self.rings([$0]) })
        for (latitude, longitude) in [(5, 180.0), (5, -175), (25, 180)] {
            #expect(Self.holds(polygon, Double(latitude), longitude))
        }
        #expect(!Self.holds(polygon, 5, 0) && !Self.holds(polygon, 25, 0))
    }

    @Test func `equality is that of the numbers`() throws {
        let band = try Self.polygon(Self.rectangle(-180, 0, 180, 1))
        #expect(try band == Self.polygon(Self.rectangle(-180, 0, 180, 1)))
        #expect(try band != Self.polygon(Self.rectangle(180, 0, -180, 1)))
        #expect(try band != Self.polygon(Self.rectangle(-180, 0, 180, 2)))
        #expect(try Set([band, Self.polygon(Self.rectangle(-180, 0, 180, 1))]).count == 1)
    }

    @Test func `one polygon answers many threads at once`() async throws {
        let polygon = try Self.polygon(Self.rectangle(170, -10, -170, 10))
        let counts = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<2_000).count {
                        let longitude = Double($0 % 360) - 180
                        return polygon.contains(Coordinate(latitude: 1, longitude: longitude))
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        // -180 through -170 and 170 through 179; the last round ends at 19.
        #expect(counts == Array(repeating: 5 * 21 + 11, count: 8))
    }

    @Test(arguments: 1...24 as ClosedRange<UInt64>)
    func `a polygon holds what counting crossings says it holds`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var positions: [(latitude: Double, longitude: Double)] = [
            (0, 180), (0, -180), (90, 12), (-90, 180), (35.658603, 139.745433), (-0.0, 0),
            (35.6586030000001, 139.745433), (-35.658603, -40.254567),
        ]
        positions += (0..<8).map { _ in (random.number(-89...89), random.number(-180...180)) }
        var inside = 0
        for _ in 0..<40 {
            let generated = PolygonGenerator(positions: positions).polygon(&random)
            let polygon = try GeoPolygon(generated.polygons.map(Self.rings))
            let oracle = OraclePolygon(generated.geometry)
            let vertices = generated.polygons.joined().joined().map { ($0.latitude, $0.longitude) }
            let around = vertices.map {
                (
                    min(90, max(-90, $0.0 + random.number(-3...3))),
                    min(180, max(-180, $0.1 + random.number(-3...3)))
                )
            }
            let corners = zip(vertices, vertices.dropFirst()).map { ($0.0, $1.1) }
            for (latitude, longitude) in positions + vertices + around + corners {
                let isInside = oracle.contains(latitude: latitude, longitude: longitude)
                inside += isInside ? 1 : 0
                #expect(
                    Self.holds(polygon, latitude, longitude) == isInside,
                    "seed \(seed), \(latitude), \(longitude), \(generated.geometry.text)")
            }
        }
        #expect(inside > 200)
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `a rectangle that is wholly inside holds no point outside, and the other way round`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        let positions = (0..<6).map { _ in
            (latitude: random.number(-60...60), longitude: random.number(-180...180))
        }
        var seen: Set<Overlap> = []
        for _ in 0..<30 {
            let generated = PolygonGenerator(positions: positions).polygon(&random)
            let polygon = try GeoPolygon(generated.polygons.map(Self.rings))
            for _ in 0..<40 {
                let size = random.pick([0, 0.01, 1, 8])
                let (south, west) = (random.number(-90...82), random.number(-180...172))
                let overlap = polygon.overlap(
                    south: south, west: west, north: south + size, east: west + size)
                seen.insert(overlap)
                guard overlap != .part else { continue }
                for _ in 0..<10 {
                    let point = (
                        south + size * random.number(0...1), west + size * random.number(0...1)
                    )
                    #expect(
                        Self.holds(polygon, point.0, point.1) == (overlap == .whole),
                        "seed \(seed), \(point), \(generated.geometry.text)")
                }
            }
        }
        #expect(seen == [.none, .part, .whole])
    }
}
