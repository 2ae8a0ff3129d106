import Geodesy
import PersistentStructures
import TestSupport
import Testing

@testable import SpatialIndex

/// The seeds every generated test runs with. Append one that failed, with the date and the fault.
private let seeds: [UInt64] = Array(1...24)

@Suite struct PointIndexTests {
    @Test(arguments: PointDistribution.allCases)
    func `a bulk-loaded index answers as the scan does`(positions: PointDistribution) {
        for seed in seeds {
            var random = SplitMix64(seed: seed)
            for size in [0, 1, 2, 63, 64, 65, 300, 1100] {
                let points = (0..<size).map {
                    (slot: Slot($0), coordinate: positions.position(&random))
                }
                let index = PointIndex(bulk: points)
                compare(
                    index, LinearScan(bulk: points), positions, &random, rounds: 3,
                    "seed \(seed), \(positions), \(size) points")
            }
        }
    }

    @Test(arguments: PointDistribution.allCases)
    func `after any history an index answers as the scan does`(positions: PointDistribution) {
        for seed in seeds {
            var random = SplitMix64(seed: seed)
            var history = History(positions: positions)
            for round in 0..<8 {
                history.run(steps: [40, 300, 700][random.below(3)], &random)
                compare(
                    history.index, history.scan, positions, &random, rounds: 1,
                    "seed \(seed), \(positions), round \(round)")
            }
            for (index, scan) in history.snapshots {
                compare(index, scan, positions, &random, rounds: 1, "seed \(seed), a snapshot")
            }
        }
    }

    @Test(arguments: PointDistribution.allCases, DistanceModel.allCases)
    func `a walk resumed behind any point goes on with the next`(
        positions: PointDistribution, model: DistanceModel
    ) {
        for seed in seeds.prefix(2) {
            var random = SplitMix64(seed: seed)
            var history = History(positions: positions)
            history.run(steps: 400, &random)
            let center = positions.position(&random)
            let measure = GeoCircle(center, model: model).distance
            let all = walk(history.scan.nearest(by: measure))
            for (number, cursor) in all.enumerated() where number % 7 == 0 {
                let rest = walk(history.index.nearest(by: measure, after: cursor)).prefix(20)
                #expect(
                    rest == all[(number + 1)...].prefix(20),
                    "seed \(seed), \(positions), \(model), behind \(cursor)")
            }
        }
    }

    @Test func `the example on the index's card comes out as written`() {
        var index = PointIndex()
        index.set(Coordinate(latitude: 59.91, longitude: 10.75), for: 17)
        let circle = GeoCircle(Coordinate(latitude: 59.9, longitude: 10.7))
        var walk = index.nearest(by: circle.distance)
        let first = walk.next()
        #expect(first?.slot == 17)
        #expect(first.map { ($0.distance.meters / 100).rounded() } == 30)
    }

    @Test func `the same slot twice in a bulk load keeps the last`() {
        let positions = (0..<100).map { Coordinate(latitude: Double($0 % 80), longitude: 5) }
        let twice = positions.enumerated().map {
            (slot: Slot($0.offset / 2), coordinate: $0.element)
        }
        let index = PointIndex(bulk: twice)
        #expect(index.count == 50)
        #expect(index.position(of: 3) == positions[7])
        #expect(index.violations().isEmpty)
    }

    @Test func `what is reported is what was set, sign and spelling`() {
        for size in [1, 500] {
            var index = PointIndex()
            for slot in 0..<size {
                index.set(Coordinate(latitude: -0.0, longitude: 180), for: Slot(slot))
            }
            let position = index.position(of: 0)
            #expect(position?.longitude == 180 && position?.latitude.sign == .minus)
            let box = GeoBox(south: -1, west: -180, north: 1, east: -179)
            index.visit(in: .box(box)) { _, position in
                #expect(position.longitude == 180)
                return true
            }
        }
    }

    @Test func `visits end when the body says so`() throws {
        var random = SplitMix64(seed: 9)
        let index = PointIndex(
            bulk: (0..<500).map {
                (slot: Slot($0), coordinate: PointDistribution.cities.position(&random))
            })
        let corners = [(-180.0, -90.0), (180, -90), (180, 90), (-180, 90), (-180, -90)]
        let ring = corners.map { Coordinate(latitude: $0.1, longitude: $0.0) }
        let circle = GeoCircle(PointIndex.nowhere)
        let world = try GeoPolygon([[ring]])
        for shape in [.box(.world), .polygon(world), .circle(circle)] as [GeoShape] {
            var visits = 0
            index.visit(in: shape) { _, _ in
                visits += 1
                return visits < 10
            }
            #expect(visits == 10 && index.count(in: shape) == 500, "\(shape.kind)")
            index.visit(in: shape, by: circle.distance) { points in
                visits += points.count
                return visits < 20
            }
            #expect((20..<20 + 16).contains(visits), "\(shape.kind)")
        }
    }
}

/// Writes done alike to an index and to a scan, with copies kept on the way.
struct History {
    let positions: PointDistribution
    var index = PointIndex()
    var scan = LinearScan()
    var snapshots: [(PointIndex, LinearScan)] = []
    private var merge: MergedTier?

    init(positions: PointDistribution) { self.positions = positions }

    mutating func run(steps: Int, _ random: inout SplitMix64) {
        let slots = [30, 900, 3000][random.below(3)]
        let removals = [0, 2, 6][random.below(3)]
        for _ in 0..<steps {
            let slot = Slot(random.below(slots))
            if random.below(10) < removals {
                index.remove(slot)
                scan.remove(slot)
            } else {
                let position = positions.position(&random)
                index.set(position, for: slot)
                scan.set(position, for: slot)
            }
            if random.below(400) == 0 { snapshots.append((index, scan)) }
            mergeSometimes(&random)
        }
    }

    // A merge is run at once and installed some writes later, or never.
    private mutating func mergeSometimes(_ random: inout SplitMix64) {
        guard random.below(60) == 0 else { return }
        if let merged = merge {
            index.install(merged)
            merge = nil
        } else {
            merge = index.pendingMerge()?.run()
        }
    }
}

/// Compares every answer of the index with the scan's.
func compare(
    _ index: PointIndex, _ scan: LinearScan, _ positions: PointDistribution,
    _ random: inout SplitMix64,
    rounds: Int, _ context: String
) {
    #expect(index.violations() == [], "\(context)")
    #expect(index.count == scan.count, "\(context)")
    for _ in 0..<rounds {
        let slot = Slot(random.below(1000))
        #expect(index.position(of: slot) == scan.position(of: slot), "\(context), slot \(slot)")
        let box = positions.box(&random)
        compare(index, scan, .box(box), "\(context), \(box)")
        for model in DistanceModel.allCases {
            compareCircle(index, scan, positions, model, &random, context)
        }
    }
}

/// Compares what the index finds in a shape with what the scan does.
func compare(_ index: PointIndex, _ scan: LinearScan, _ shape: GeoShape, _ context: String) {
    let expected = visited(scan, shape)
    #expect(visited(index, shape) == expected, "\(context)")
    var appended: [Slot] = [7]
    index.append(in: shape, to: &appended)
    #expect(appended.first == 7 && appended.dropFirst().sorted() == expected, "\(context)")
    #expect(index.count(in: shape) == expected.count, "\(context)")
    #expect((0...index.count).contains(index.estimate(in: shape)), "\(context)")
    let measure = GeoCircle(PointIndex.nowhere).distance
    #expect(measured(index, shape, measure) == measured(scan, shape, measure), "\(context)")
}

private func compareCircle(
    _ index: PointIndex, _ scan: LinearScan, _ positions: PointDistribution, _ model: DistanceModel,
    _ random: inout SplitMix64, _ context: String
) {
    let center = positions.position(&random)
    let radius = positions.radiusMeters(around: center, model, &random)
    let circle = GeoCircle(center, radiusMeters: radius, model: model)
    let measure = circle.distance
    let inCircle = walk(scan.nearest(by: measure, within: radius))
    let here = "\(context), \(radius) m of \(center), \(model)"
    #expect(walk(index.nearest(by: measure, within: radius)) == inCircle, "\(here)")
    for limit in [0, 1, 2 + random.below(14), 16, 17] {
        let first = index.nearest(by: measure, within: radius, atMost: limit)
        #expect(walk(first) == Array(inCircle.prefix(limit)), "\(here), at most \(limit)")
    }
    #expect(measured(index, .circle(circle), measure) == inCircle, "\(here)")
    compare(index, scan, .circle(circle), here)
}

func walk<Walk: DistanceWalk>(_ start: Walk) -> [MeasuredPoint] {
    var walk = start
    var found: [MeasuredPoint] = []
    while let (slot, distance) = walk.next() {
        found.append(MeasuredPoint(distance: distance, slot: slot))
    }
    return found
}

private func visited(_ points: some PointSet, _ shape: GeoShape) -> [Slot] {
    var found: [Slot] = []
    points.visit(in: shape) { slot, _ in
        found.append(slot)
        return true
    }
    return found.sorted()
}

private func measured(
    _ points: some PointSet, _ shape: GeoShape, _ measure: GeoMeasure
) -> [MeasuredPoint] {
    var found: [MeasuredPoint] = []
    points.visit(in: shape, by: measure) {
        found += $0
        return true
    }
    return found.sorted()
}
