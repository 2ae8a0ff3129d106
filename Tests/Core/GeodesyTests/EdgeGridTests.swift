import TestSupport
import Testing

@testable import Geodesy

/// The grid of a polygon's edges, on shapes that are many edges to one row, one column or one place.
@Suite struct EdgeGridTests {
    private typealias Position = (longitude: Double, latitude: Double)

    /// Spikes from a centre, every other vertex at a fraction of the radius.
    static func star(_ count: Int, inner: Double) -> [(longitude: Double, latitude: Double)] {
        let spikes = (0..<count).map { number in
            let (angle, radius) = (
                2 * Double.pi * Double(number) / Double(count), number % 2 == 0 ? 10 : 10 * inner
            )
            return (20 + radius * cosine(angle), 30 + radius * cosine(angle - .pi / 2))
        }
        return spikes + [spikes[0]]
    }

    /// By its series: no library is needed for an angle within a turn.
    private static func cosine(_ angle: Double) -> Double {
        var (sum, term) = (1.0, 1.0)
        for k in 1..<40 {
            term *= -angle * angle / Double((2 * k - 1) * (2 * k))
            sum += term
        }
        return sum
    }

    /// Teeth beside each other: every vertex lies on one of two lines.
    private static func comb(_ count: Int, isLevel: Bool) -> [Position] {
        var ring: [Position] = [(0, 0)]
        for tooth in 0..<count {
            let x = Double(tooth) / Double(count) * 10
            ring += [(x + 1 / Double(count), 10), (x + 5 / Double(count), 1)]
        }
        ring += [(10, 10), (10, 0), (0, 0)]
        return isLevel ? ring.map { ($0.latitude, $0.longitude) } : ring
    }

    private static func stairs(_ count: Int) -> [Position] {
        var ring: [Position] = [(0, 0)]
        for step in 0..<count {
            ring += [(Double(step + 1), Double(step)), (Double(step + 1), Double(step + 1))]
        }
        return ring + [(0, Double(count)), (0, 0)]
    }

    private static let shapes: [[Position]] = [
        star(400, inner: 0.5), star(400, inner: 0.01), star(401 * 2, inner: 0.99),
        comb(150, isLevel: false), comb(150, isLevel: true), stairs(60),
        [(0, 0), (10, 0), (10, 10), (0, 0)],
    ]

    @Test(arguments: shapes.indices)
    func `A point is inside where counting crossings says so, on vertices and edges too`(
        _ number: Int
    ) throws {
        var random = SplitMix64(seed: UInt64(number))
        let ring = Self.shapes[number]
        let polygon = try GeoPolygon([
            [ring.map { Coordinate(latitude: $0.latitude, longitude: $0.longitude) }]
        ])
        let oracle = OraclePolygon(GeneratedPolygon(polygons: [[ring]]).geometry)
        let (xs, ys) = (ring.map(\.longitude), ring.map(\.latitude))
        var positions = ring
        // Level with vertices, below and above them, between them and anywhere.
        for _ in 0..<1_500 {
            let (x, y) = (
                random.pick([random.pick(xs), random.number(xs.min()!...xs.max()!)]),
                random.pick([random.pick(ys), random.number(ys.min()!...ys.max()!)])
            )
            positions += [(x, y), (x.nextUp, y), (x, y.nextDown)]
        }
        for (a, b) in zip(ring, ring.dropFirst()) {
            positions.append(((a.longitude + b.longitude) / 2, (a.latitude + b.latitude) / 2))
        }
        var inside = 0
        for (longitude, latitude) in positions {
            let expected = oracle.contains(latitude: latitude, longitude: longitude)
            inside += expected ? 1 : 0
            #expect(
                polygon.contains(Coordinate(latitude: latitude, longitude: longitude)) == expected,
                "shape \(number): \(longitude), \(latitude)")
        }
        #expect(inside > ring.count && inside < positions.count)
    }

    @Test(arguments: shapes.indices)
    func `A rectangle that is wholly in or out holds no point of the other kind`(
        _ number: Int
    ) throws {
        var random = SplitMix64(seed: 100 + UInt64(number))
        let ring = Self.shapes[number]
        let polygon = try GeoPolygon([
            [ring.map { Coordinate(latitude: $0.latitude, longitude: $0.longitude) }]
        ])
        let oracle = OraclePolygon(GeneratedPolygon(polygons: [[ring]]).geometry)
        let (xs, ys) = (ring.map(\.longitude), ring.map(\.latitude))
        var sure = 0
        for _ in 0..<400 {
            let size = random.pick([0, 0.001, 0.05, 0.5, 3, 30])
            let west = random.number(xs.min()! - 1...xs.max()!)
            let south = random.number(ys.min()! - 1...ys.max()!)
            let (east, north) = (west + size, south + size * random.number(0...1))
            let overlap = polygon.overlap(south: south, west: west, north: north, east: east)
            guard overlap != .part else { continue }
            sure += 1
            for vertex in ring {
                let isWithin =
                    (west...east).contains(vertex.longitude)
                    && (south...north).contains(vertex.latitude)
                #expect(!isWithin, "shape \(number): \(vertex)")
            }
            for _ in 0..<5 {
                let (x, y) = (random.number(west...east), random.number(south...north))
                #expect(
                    oracle.contains(latitude: y, longitude: x) == (overlap == .whole),
                    "shape \(number): \(x), \(y)")
            }
        }
        #expect(sure > 50, "shape \(number)")
    }

    @Test func `Of ten thousand edges a point is compared with some hundreds, spikes or not`()
        throws
    {
        for inner in [0.99, 0.5, 0.1] {
            let star = Self.star(9_998, inner: inner)
            let edges = zip(star, star.dropFirst()).map { a, b in
                PlaneEdge(
                    ax: a.longitude, ay: a.latitude, bx: b.longitude, by: b.latitude)
            }
            let mean = EdgeGrid(edges).meanEdges
            #expect(mean < 500, "\(inner): \(mean)")
        }
    }
}
