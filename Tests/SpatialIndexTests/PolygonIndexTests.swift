import Geodesy
import TestSupport
import Testing

@testable import SpatialIndex

@Suite struct PolygonIndexTests {
    @Test(arguments: Places.allCases)
    func `an index finds in a polygon what the scan finds`(places: Places) throws {
        for seed in UInt64(1)...6 {
            var random = SplitMix64(seed: seed)
            var history = History(places: places)
            for size in [0, 63, 300, 2000] {
                let points = (0..<size).map { (slot: Slot($0), coordinate: places.place(&random)) }
                try compare(
                    PointIndex(bulk: points), LinearScan(bulk: points), places, &random,
                    "seed \(seed), \(places), \(size) points")
                history.run(steps: 150, &random)
                try compare(
                    history.index, history.scan, places, &random, "seed \(seed), a history")
            }
        }
    }

    private func compare(
        _ index: PointIndex, _ scan: LinearScan, _ places: Places, _ random: inout SplitMix64,
        _ context: String
    ) throws {
        let around = (0..<4).map { _ in places.place(&random) }
        let generator = PolygonGenerator(places: around.map { ($0.latitude, $0.longitude) })
        for _ in 0..<4 {
            let generated = generator.polygon(&random)
            let polygon = try GeoPolygon(
                generated.polygons.map { rings in
                    rings.map { ring in
                        ring.map { Coordinate(latitude: $0.latitude, longitude: $0.longitude) }
                    }
                })
            let here = "\(context), \(generated.geometry.text)"
            let expected = Self.slots(scan, polygon)
            #expect(Self.slots(index, polygon) == expected, "\(here)")
            #expect(index.count(in: polygon) == expected.count, "\(here)")
            #expect((0...index.count).contains(index.estimate(in: polygon)), "\(here)")
        }
    }

    private static func slots(_ points: some PointSet, _ polygon: GeoPolygon) -> [Slot] {
        var found: [Slot] = []
        points.visit(in: polygon) { slot, place in
            found.append(slot)
            return polygon.contains(place)
        }
        return found.sorted()
    }

    @Test func `a visit ends when the body says so`() throws {
        var random = SplitMix64(seed: 4)
        let index = PointIndex(
            bulk: (0..<500).map { (slot: Slot($0), coordinate: Places.uniform.place(&random)) })
        let corners = [(-180.0, -90.0), (180, -90), (180, 90), (-180, 90), (-180, -90)]
        let world = try GeoPolygon([
            [corners.map { Coordinate(latitude: $0.1, longitude: $0.0) }]
        ])
        var visits = 0
        index.visit(in: world) { _, _ in
            visits += 1
            return visits < 10
        }
        #expect(visits == 10 && index.count(in: world) == 500)
    }
}
