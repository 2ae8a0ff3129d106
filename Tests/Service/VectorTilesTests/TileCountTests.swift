import Foundation
import TestSupport
import Testing
import WebExchange

@testable import GISSites

/// What tiles have, compared with a count of every object by the formulas of the specification.
@Suite struct TileCountTests {
    /// An object and where it is.
    private struct Object {
        let id: String
        let kind: Int
        let places: [(latitude: Double, longitude: Double)]

        var members: String {
            let points = places.map { point($0.latitude, $0.longitude) }
            let value = points.count == 1 ? points[0] : "[\(points.joined(separator: ","))]"
            return #""kind":\#(kind),"p":\#(value)"#
        }

        init(_ number: Int, _ random: inout SplitMix64) {
            id = "o\(number)"
            kind = random.below(3)
            let center = (random.number(-60...60), random.number(-170...170))
            places = (0..<(random.oneIn(6) ? 1 + random.below(4) : 1)).map { _ in
                switch random.below(8) {
                case 0: (random.pick([-90, 90, 85.06, -85.06, 0]), random.number(-180...180))
                case 1: (random.number(-90...90), random.pick([-180, 180, 0, 90, -90]))
                case 2: (random.number(-1...1), random.number(-1...1))
                case 3: center
                default: (random.number(-85...85), random.number(-180...180))
                }
            }
        }

        /// The cells of a level that have a place, by column and row.
        func cells(level: Int) -> Set<[Int]> {
            let size = 1_073_741_824.0
            return Set(
                places.map { place in
                    let longitude = place.longitude == 180 ? -180 : place.longitude
                    let x = Int((longitude + 180) / 360 * size)
                    let edge = 85.0511287798066
                    let radians = max(-edge, min(edge, place.latitude)) * .pi / 180
                    let y = (1 - log(tan(radians) + 1 / cos(radians)) / .pi) / 2
                    let row = max(0, min(Int(size) - 1, Int(floor(y * size))))
                    return [min(x, Int(size) - 1) >> (30 - level), row >> (30 - level)]
                })
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `Counts of all tiles of a level sum to the whole, each object in its own cell`(
        seed: UInt64
    ) async throws {
        var random = SplitMix64(seed: seed)
        let objects = (0..<(seed == 3 ? 300 : 2_500)).map { Object($0, &random) }
        try await TiledService.with { service in
            try await service.store(objects.map { ($0.id, $0.members) })
            let eq = #"{"type":"eq","field":"kind","value":1}"#
            let others = percentEncoded(#"{"clause":{"type":"not","clause":\#(eq)}}"#)
            for (parameters, isWanted) in [
                ("", { _ in true }), ("?filter=kind%20%3D%201", { $0.kind == 1 }),
                ("?fields=kind&query=\(others)", { $0.kind != 1 }),
            ] as [(String, (Object) -> Bool)] {
                for zoom in 0...3 {
                    var expected: [[Int]: [String]] = [:]
                    for object in objects where isWanted(object) {
                        for cell in object.cells(level: zoom + 5) {
                            expected[cell, default: []].append(object.id)
                        }
                    }
                    let found = try await Self.cells(of: service, zoom, parameters, expected)
                    #expect(found == expected.count, "seed \(seed), zoom \(zoom) \(parameters)")
                }
            }
        }
    }

    /// Compares all tiles of a level with what they have to have.
    ///
    /// - Returns: the number of cells that were found.
    private static func cells(
        of service: TiledService, _ zoom: Int, _ parameters: String, _ expected: [[Int]: [String]]
    ) async throws -> Int {
        var found = 0
        for x in 0..<1 << zoom {
            for y in 0..<1 << zoom {
                let layers = try await service.tile("\(zoom)/\(x)/\(y)", parameters)
                let inTile = expected.filter { $0.key[0] >> 5 == x && $0.key[1] >> 5 == y }
                let total = inTile.values.reduce(0) { $0 + $1.count }
                var cells: Set<[Int]> = []
                func cell(_ feature: MVTFeature) -> [Int] {
                    let all = Set(
                        feature.points.map { [x << 5 + $0[0] >> 7, y << 5 + $0[1] >> 7] })
                    #expect(all.count == 1)
                    return all.first ?? []
                }
                for feature in layers["clusters"]?.features ?? [] {
                    let attributes = layers["clusters"]!.attributes(feature)
                    let cell = cell(feature)
                    #expect(attributes["cell"] == "\(zoom + 5)/\(cell[0])/\(cell[1])")
                    #expect(attributes["count"] == String(inTile[cell]?.count ?? 0))
                    #expect(cells.insert(cell).inserted)
                }
                #expect(layers["clusters"] == nil || total > 500)
                var single: [[Int]: [String]] = [:]
                for feature in layers["objects"]?.features ?? [] {
                    let attributes = layers["objects"]!.attributes(feature)
                    single[cell(feature), default: []].append(attributes["_id"] ?? "")
                    #expect(attributes["p"]?.first ?? "[" == "[", "only arrays are attributes")
                }
                for (cell, ids) in single {
                    #expect(ids.sorted() == inTile[cell]?.sorted(), "\(zoom)/\(x)/\(y), \(cell)")
                    #expect(cells.insert(cell).inserted)
                }
                #expect(cells == Set(inTile.keys), "\(zoom)/\(x)/\(y) \(parameters)")
                found += cells.count
            }
        }
        return found
    }
}
