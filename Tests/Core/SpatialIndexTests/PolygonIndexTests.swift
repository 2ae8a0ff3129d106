import Geodesy
import PersistentStructures
import TestSupport
import Testing

@testable import SpatialIndex

@Suite struct PolygonIndexTests {
    @Test(arguments: PointDistribution.allCases)
    func `an index finds in a polygon what the scan finds`(positions: PointDistribution) throws {
        for seed in UInt64(1)...6 {
            var random = SplitMix64(seed: seed)
            var history = History(positions: positions)
            for size in [0, 63, 300, 2000] {
                let points = (0..<size).map {
                    (slot: Slot($0), coordinate: positions.position(&random))
                }
                try comparePolygons(
                    PointIndex(bulk: points), LinearScan(bulk: points), positions, &random,
                    "seed \(seed), \(positions), \(size) points")
                history.run(steps: 150, &random)
                try comparePolygons(
                    history.index, history.scan, positions, &random, "seed \(seed), a history")
            }
        }
    }

    private func comparePolygons(
        _ index: PointIndex, _ scan: LinearScan, _ positions: PointDistribution,
        _ random: inout SplitMix64,
        _ context: String
    ) throws {
        let around = (0..<4).map { _ in positions.position(&random) }
        let generator = PolygonGenerator(positions: around.map { ($0.latitude, $0.longitude) })
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
