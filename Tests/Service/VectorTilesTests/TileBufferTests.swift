import Objects
import TestSupport
import Testing
import WebExchange

@testable import GISSites

/// What lies beside a tile, its filters in two languages, and tags that outlive other writes.
@Suite struct TileBufferTests {
    private struct Shown: Hashable {
        let id: String
        let x: Int
        let y: Int
    }

    /// The objects of a tile and where they are.
    private static func shown(
        _ service: TiledService, _ zoom: Int, _ column: Int, _ row: Int, _ parameters: String = ""
    ) async throws -> Set<Shown> {
        let layers = try await service.tile("\(zoom)/\(column)/\(row)", parameters)
        #expect(layers["clusters"] == nil)
        guard let layer = layers["objects"] else { return [] }
        return Set(
            zip(layer.all, layer.features).flatMap { attributes, feature in
                feature.points.map { Shown(id: attributes["_id"]!, x: $0[0], y: $0[1]) }
            })
    }

    @Test(arguments: Seeds.first(4))
    func `Beside a tile lies what its neighbours have`(seed: UInt64) async throws {
        try await TiledService.with { service in
            var random = SplitMix64(seed: seed)
            // Few enough for all tiles to list objects alone, many of them at edges of tiles.
            try await service.store(
                (0..<300).map { number in
                    let longitude =
                        random.oneIn(2)
                        ? random.number(-180...180)
                        : Double(random.below(17)) * 22.5 - 180 + random.number(-1...1)
                    let latitude = random.oneIn(2) ? random.number(-90...90) : random.number(-2...2)
                    let place = point(latitude, min(max(longitude, -180), 180))
                    return ("o\(number)", #""p":\#(place)"#)
                })
            for _ in 0..<12 {
                let zoom = random.below(4)
                let world = 1 << zoom
                let (column, row) = (random.below(world), random.below(world))
                let buffer = [0, 1, 64, 128, 129, 256, random.below(257)][random.below(7)]
                var expected: Set<Shown> = []
                for (dx, dy) in (0..<9).map({ ($0 % 3 - 1, $0 / 3 - 1) }) {
                    guard (0..<world).contains(row + dy) else { continue }
                    let neighbour = (column + dx + world) % world
                    for found in try await Self.shown(service, zoom, neighbour, row + dy) {
                        let (x, y) = (found.x + dx * 4_096, found.y + dy * 4_096)
                        let near = -buffer..<4_096 + buffer
                        if near.contains(x), near.contains(y) {
                            expected.insert(Shown(id: found.id, x: x, y: y))
                        }
                    }
                }
                let found = try await Self.shown(service, zoom, column, row, "?buffer=\(buffer)")
                #expect(
                    found == expected, "seed \(seed): \(zoom)/\(column)/\(row), buffer \(buffer)")
            }
        }
    }

    @Test func `A filter may be an expression or CQL2, and means the same`() async throws {
        try await TiledService.with { service in
            try await service.store(
                (0..<40).map { number in
                    let members = #""n":\#(number),"open":\#(number % 2 == 0),"s":"a\#(number)""#
                    return ("o\(number)", members + #","p":\#(point(1, Double(number)))"#)
                })
            for (expression, cql2, count) in [
                ("n%20%3C%3D%207", "n%20%3C%3D%207", 8),
                ("s%20in%20(%22a1%22,%22a2%22)", "s%20IN%20('a1','a2')", 2),
                ("open%20%3D%20true", "open%20%3D%201", 20),
                ("n%20%3E%2030", "S_INTERSECTS(geometry,BBOX(30.5,-10,50,10))", 9),
            ] {
                let one = try await Self.shown(service, 0, 0, 0, "?filter=\(expression)")
                let other = try await Self.shown(
                    service, 0, 0, 0, "?filter=\(cql2)&filter-lang=cql2-text")
                #expect(one == other && one.count == count, "\(cql2)")
            }
        }
    }

    @Test func `A write elsewhere in the bucket costs no transfer`() async throws {
        try await TiledService.with { service in
            try await service.store([("a1", #""p":\#(point(10, 10))"#)])
            let east = "/tiles/b1/1/1/0.mvt"
            let tag = try #require(try await service.get(east).headers[.eTag])
            try await service.store([("a2", #""p":\#(point(-10, -10))"#)])
            let unchanged = try await service.get(east, ifNoneMatch: tag)
            #expect(unchanged.status == .notModified)
            let next = try #require(unchanged.headers[.eTag])
            #expect(next != tag)
            #expect(try await service.get(east, ifNoneMatch: next).headers[.eTag] == next)
            try await service.store([("a3", #""p":\#(point(11, 11))"#)])
            for known in [tag, next] {
                #expect(try await service.get(east, ifNoneMatch: known).status == .ok)
            }
        }
    }
}
