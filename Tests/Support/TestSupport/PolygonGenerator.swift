import Foundation

/// A polygon as it is sent and as numbers.
public struct GeneratedPolygon: Sendable {
    /// For each polygon its rings of positions.
    public var polygons: [[[(longitude: Double, latitude: Double)]]]

    public init(polygons: [[[(longitude: Double, latitude: Double)]]]) { self.polygons = polygons }

    /// GeoJSON.
    public var geometry: JSONValue {
        func array(_ rings: [[(longitude: Double, latitude: Double)]]) -> JSONValue {
            .array(
                rings.map { ring in
                    .array(ring.map { .array([.double($0.longitude), .double($0.latitude)]) })
                })
        }
        let isSeveral = polygons.count > 1
        return .object([
            "type": .string(isSeveral ? "MultiPolygon" : "Polygon"),
            "coordinates": isSeveral ? .array(polygons.map(array)) : array(polygons[0]),
        ])
    }
}

/// Valid polygons around some places, with places on vertices and on edges: stars with holes,
/// rectangles, bands around the earth, caps of the poles, several at once, over the antimeridian.
public struct PolygonGenerator {
    private typealias Ring = [(longitude: Double, latitude: Double)]

    private let positions: [(latitude: Double, longitude: Double)]

    public init(positions: [(latitude: Double, longitude: Double)]) { self.positions = positions }

    public func polygon(_ random: inout SplitMix64) -> GeneratedPolygon {
        switch random.below(8) {
        case 0, 1: return GeneratedPolygon(polygons: [[rectangle(&random)]])
        case 2:
            return GeneratedPolygon(polygons: [[random.oneIn(2) ? band(&random) : cap(&random)]])
        default:
            var polygons = [star(&random)]
            if random.oneIn(3) { polygons = spread(polygons[0], copies: 2 + random.below(2)) }
            if random.oneIn(2) {
                polygons = polygons.map { $0.map { Array($0.reversed()) } }
            }
            return GeneratedPolygon(polygons: polygons)
        }
    }

    /// Edges on the meridians and parallels of two places. Wider than 180° it is what lies around
    /// the other side; from -180 to 180 a band.
    private func rectangle(_ random: inout SplitMix64) -> Ring {
        var (a, b) = (random.pick(positions), random.pick(positions))
        if a.latitude == b.latitude {
            a.latitude = max(-90, a.latitude - 2)
            b.latitude = min(90, b.latitude + 2)
        }
        if a.longitude == b.longitude {
            a.longitude = max(-180, a.longitude - 2)
            b.longitude = min(180, b.longitude + 2)
        }
        return Self.rectangle(a, b)
    }

    private func band(_ random: inout SplitMix64) -> Ring {
        let south = min(89, random.pick(positions).latitude)
        return Self.rectangle((south, -180), (south + random.number(0.1...90 - south), 180))
    }

    /// Around a pole, closed along it.
    private func cap(_ random: inout SplitMix64) -> Ring {
        let inner = stride(from: -120.0, through: 120, by: 60).map { ($0, random.number(30...80)) }
        let edge = random.number(30...80)
        let north: Ring =
            [(-180, edge)] + inner + [(180, edge), (180, 90), (-180, 90), (-180, edge)]
        return random.oneIn(2) ? north : north.map { ($0.longitude, -$0.latitude) }
    }

    private static func rectangle(
        _ a: (latitude: Double, longitude: Double), _ b: (latitude: Double, longitude: Double)
    ) -> Ring {
        [
            (a.longitude, a.latitude), (b.longitude, a.latitude), (b.longitude, b.latitude),
            (a.longitude, b.latitude), (a.longitude, a.latitude),
        ]
    }

    /// Vertices at growing angles around a centre, one of them a place where that fits between the
    /// poles; perhaps with a smaller copy of itself as a hole.
    private func star(_ random: inout SplitMix64) -> [Ring] {
        let position = random.pick(positions)
        let size = random.pick([0.001, 1, 5, 25])
        let offset = random.number(0...2 * .pi)
        var (x, y) = (
            position.longitude - size * cos(offset), position.latitude - size * sin(offset)
        )
        let isThrough = abs(y) + size < 90
        if !isThrough { (x, y) = (position.longitude, random.number(-60...60)) }
        let count = 4 + random.below(6)
        var spokes = (0..<count).map { number in
            let angle =
                offset + (Double(number) + random.number(-0.3...0.3)) * 2 * .pi / Double(count)
            let length = size * random.number(0.3...1)
            return (length * cos(angle), length * sin(angle))
        }
        if isThrough { spokes[0] = (size * cos(offset), size * sin(offset)) }
        func ring(_ scale: Double) -> Ring {
            spokes.map { (Self.wrapped(x + scale * $0.0), y + scale * $0.1) }
        }
        var shell = ring(1)
        if isThrough { shell[0] = (position.longitude, position.latitude) }
        let rings = random.oneIn(2) ? [shell] : [shell, ring(0.4)]
        return rings.map { $0 + [$0[0]] }
    }

    /// Copies side by side around the earth; the first stays where it is.
    private func spread(_ polygon: [Ring], copies: Int) -> [[Ring]] {
        (0..<copies).map { number in
            number == 0
                ? polygon
                : polygon.map { ring in
                    ring.map { (Self.wrapped($0.longitude + 100 * Double(number)), $0.latitude) }
                }
        }
    }

    private static func wrapped(_ longitude: Double) -> Double {
        longitude > 180 ? longitude - 360 : (longitude < -180 ? longitude + 360 : longitude)
    }
}
