import Geodesy
import PersistentStructures
import TestSupport
import Testing

@testable import SpatialIndex

@Suite struct CorridorIndexTests {
    @Test(arguments: PointDistribution.allCases)
    func `an index finds in a corridor what the scan finds`(positions: PointDistribution) throws {
        for seed in Seeds.first(2) {
            var random = SplitMix64(seed: seed)
            var history = History(positions: positions)
            for size in [0, 63, 300, 2000] {
                let points = (0..<size).map {
                    (slot: Slot($0), coordinate: positions.position(&random))
                }
                try compareCorridors(
                    PointIndex(bulk: points), LinearScan(bulk: points), positions, &random,
                    "seed \(seed), \(positions), \(size) points")
                history.run(steps: 150, &random)
                try compareCorridors(
                    history.index, history.scan, positions, &random, "seed \(seed), a history")
            }
        }
    }

    private func compareCorridors(
        _ index: PointIndex, _ scan: LinearScan, _ positions: PointDistribution,
        _ random: inout SplitMix64, _ context: String
    ) throws {
        let around = (0..<4).map { _ in positions.position(&random) }
        let generator = LineGenerator(positions: around.map { ($0.latitude, $0.longitude) })
        for number in 0..<4 {
            let positionsOfLine =
                number == 0 ? generator.longLine(&random) : generator.line(&random)
            let line = try GeoLine(
                positionsOfLine.map {
                    Coordinate(latitude: $0.latitude, longitude: $0.longitude)
                })
            let corridor = Self.corridor(line, positions, &random)
            let context = "\(context), \(corridor.widthMeters) m of \(line.positions.prefix(60))"
            let shape = GeoShape.corridor(corridor)
            compare(index, scan, shape, context)
            for measure in [corridor.distance, corridor.along] {
                #expect(
                    measured(index, shape, measure) == measured(scan, shape, measure), "\(context)")
            }
        }
    }

    /// As wide as a point is far, or a little less, or anything.
    private static func corridor(
        _ line: GeoLine, _ positions: PointDistribution, _ random: inout SplitMix64
    ) -> GeoCorridor {
        let exact = line.nearest(to: positions.position(&random)).distance.meters
        let width = [
            exact, exact.nextDown, exact - 1e-6, random.number(1e-6...50),
            random.number(1...1_000_000),
        ][random.below(5)]
        return GeoCorridor(
            line, widthMeters: min(max(width, 1e-6), GeoCorridor.maximumWidthMeters))
    }

    @Test(arguments: PointDistribution.allCases)
    func `every point below a node is as the node is in the corridor`(positions: PointDistribution)
        throws
    {
        var decided = 0
        for seed in Seeds.first(3) {
            var random = SplitMix64(seed: seed)
            let points = (0..<256).map { (slot: Slot($0), coordinate: positions.position(&random)) }
            let tier = PointIndex(bulk: points).tiers[0].tier
            let around = points.prefix(3).map { ($0.1.latitude, $0.1.longitude) }
            for _ in 0..<10 {
                let line = try GeoLine(
                    LineGenerator(positions: around).line(&random).map {
                        Coordinate(latitude: $0.latitude, longitude: $0.longitude)
                    })
                let corridor = Self.corridor(line, positions, &random)
                decided += Self.checkNodes(of: tier, corridor, "seed \(seed), \(line.positions)")
            }
        }
        #expect(decided > 20)
    }

    /// Returns how many nodes are wholly inside or wholly outside.
    private static func checkNodes(
        of tier: Tier, _ corridor: GeoCorridor, _ context: String
    ) -> Int {
        let (tree, region) = (tier.tree, CorridorRegion(corridor))
        let root = TreePlace(level: 0, lane: nil)
        let lanes = region.nodes(tree.group(0, level: 0), root).first(tree.leafCount)
        let shares = region.shares(tree.group(0, level: 0), root)
        for number in 0..<tree.leafCount {
            let isTouched = lanes.touched >> UInt16(number) & 1 == 1
            let isInside = lanes.inside >> UInt16(number) & 1 == 1
            #expect((0...1).contains(shares[number]), "\(context)")
            for lane in 0..<tree.entryCount(ofLeaf: number) {
                let position = Leaf(base: tree.leaf(number)).coordinate(lane)
                let isIn = corridor.line.nearest(to: position).distance
                    .isWithin(radiusMeters: corridor.widthMeters)
                let context = "\(context), \(position), \(corridor.widthMeters) m"
                if isInside { #expect(isTouched && isIn, "\(context)") }
                if !isTouched { #expect(!isIn, "\(context)") }
            }
        }
        return lanes.inside.nonzeroBitCount + tree.leafCount - lanes.touched.nonzeroBitCount
    }
}
