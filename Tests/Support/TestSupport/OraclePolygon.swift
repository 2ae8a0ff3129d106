/// A GeoJSON Polygon or MultiPolygon, asked by counting crossings of a ray with exact signs.
public struct OraclePolygon {
    private typealias Point = (x: Double, y: Double)

    /// For each polygon its rings, with longitudes that go on over the antimeridian.
    private let polygons: [[[Point]]]

    public init(_ geometry: JSONValue) {
        let coordinates = geometry["coordinates"]!.array!
        let polygons = geometry["type"]!.string! == "Polygon" ? [.array(coordinates)] : coordinates
        self.polygons = polygons.map { rings in
            rings.array!.map { ring in
                Self.laidOut(ring.array!.map { ($0[0]!.double!, $0[1]!.double!) })
            }
        }
    }

    /// Whether the place is in a shell, edges included, and strictly inside none of its holes.
    public func contains(latitude: Double, longitude: Double) -> Bool {
        polygons.contains { rings in
            let sides = rings.map { Self.side(of: $0, latitude: latitude, longitude: longitude) }
            return sides[0] >= 0 && sides.dropFirst().allSatisfy { $0 <= 0 }
        }
    }

    /// An edge longer than 180° goes the other way round. One from -180 to 180 at one latitude then
    /// has no length, and is the whole parallel only where the ring is none without it.
    private static func laidOut(_ ring: [Point]) -> [Point] {
        let short = laidOut(ring, parallels: false)
        let isRing = short.first!.x == short.last!.x && short.contains { $0.x != short[0].x }
        return isRing ? short : laidOut(ring, parallels: true)
    }

    private static func laidOut(_ ring: [Point], parallels: Bool) -> [Point] {
        var turns = 0.0
        return ring.indices.map { index in
            if index > 0 {
                let (from, to) = (ring[index - 1], ring[index])
                let isParallel = parallels && from.y == to.y && abs(to.x - from.x) == 360
                if to.x - from.x > 180, !isParallel { turns -= 1 }
                if to.x - from.x < -180, !isParallel { turns += 1 }
            }
            return (ring[index].x + 360 * turns, ring[index].y)
        }
    }

    /// 1 inside, 0 on the edge, -1 outside, wherever around the earth the ring is laid out.
    private static func side(of ring: [Point], latitude: Double, longitude: Double) -> Int {
        (-3...3).map { turns in
            side(of: ring, (longitude + 360 * Double(turns), latitude))
        }.max()!
    }

    private static func side(of ring: [Point], _ point: Point) -> Int {
        guard ring.contains(where: { $0.x <= point.x }), ring.contains(where: { $0.x >= point.x })
        else { return -1 }
        var isInside = false
        for (a, b) in zip(ring, ring.dropFirst()) {
            guard point.y >= min(a.y, b.y), point.y <= max(a.y, b.y) else { continue }
            let turn = orientation(a, b, point)
            if turn == 0, point.x >= min(a.x, b.x), point.x <= max(a.x, b.x) { return 0 }
            if (a.y > point.y) != (b.y > point.y), (turn > 0) == (b.y > a.y) { isInside.toggle() }
        }
        return isInside ? 1 : -1
    }

    /// Whether the point lies left of the line (1), on it (0) or right of it (-1), exactly.
    private static func orientation(_ a: Point, _ b: Point, _ p: Point) -> Int {
        let products = [
            (a.x, b.y), (-a.y, b.x), (b.x, p.y), (-b.y, p.x), (p.x, a.y), (-p.y, a.x),
        ]
        // Parts that do not overlap, the largest last, of which the sum is exact.
        var parts: [Double] = []
        for (x, y) in products {
            let product = x * y
            for term in [product, (-product).addingProduct(x, y)] {
                var sum = term
                parts = parts.map { part in
                    let (a, b) = (sum, part)
                    sum = a + b
                    let virtual = sum - a
                    return (a - (sum - virtual)) + (b - virtual)
                }
                parts.append(sum)
            }
        }
        let last = parts.last { $0 != 0 } ?? 0
        return last > 0 ? 1 : (last < 0 ? -1 : 0)
    }
}
