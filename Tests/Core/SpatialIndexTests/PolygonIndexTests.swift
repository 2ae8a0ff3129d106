import Geodesy
import PersistentStructures
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
                try comparePolygons(
                    PointIndex(bulk: points), LinearScan(bulk: points), places, &random,
                    "seed \(seed), \(places), \(size) points")
                history.run(steps: 150, &random)
                try comparePolygons(
                    history.index, history.scan, places, &random, "seed \(seed), a history")
            }
        }
    }

    private func comparePolygons(
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
            compare(index, scan, .polygon(polygon), "\(context), \(generated.geometry.text)")
        }
    }
}
