import Geodesy
import PersistentStructures
import TestSupport
import Testing

@testable import SpatialIndex

/// The seeds every generated test runs with. Append one that failed, with the date and the fault.
private let seeds = Seeds.first(4)

@Suite struct PointIndexTests {
    @Test(arguments: PointDistribution.allCases)
    func `a bulk-loaded index answers as the scan does`(positions: PointDistribution) {
        for seed in seeds {
            var random = SplitMix64(seed: seed)
            for size in [0, 1, 2, 63, 64, 65, 300, 1100] {
                let points = (0..<size).map {
                    // Some slots have several points, next to each other or not.
                    let slot = random.below(3) == 0 ? $0 / 4 : (size % 2 == 0 ? $0 : size - $0)
                    return (slot: Slot(slot), coordinate: positions.position(&random))
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
        for seed in seeds {
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

    @Test func `the same slot twice in a bulk load has both points`() {
        let positions = (0..<100).map { Coordinate(latitude: Double($0 % 80), longitude: 5) }
        let twice = positions.enumerated().map {
            (slot: Slot($0.offset / 2), coordinate: $0.element)
        }
        let index = PointIndex(bulk: twice)
        #expect(index.count == 50 && index.pointCount == 100)
        #expect(index.position(of: 3) == .several(Array(positions[6...7])))
        #expect(index.violations().isEmpty)
    }

    @Test func `what is reported is what was set, sign and spelling`() {
        for size in [1, 500] {
            var index = PointIndex()
            for slot in 0..<size {
                index.set(Coordinate(latitude: -0.0, longitude: 180), for: Slot(slot))
            }
            let point = index.position(of: 0).points[0]
            #expect(point.longitude == 180 && point.latitude.sign == .minus)
            let box = GeoBox(south: -1, west: -180, north: 1, east: -179)
            index.visit(in: .box(box)) { _, position in
                #expect(position.longitude == 180)
                return true
            }
        }
    }

    @Test func `the points of a slot are one hit, and the nearest of them its distance`() {
        let oslo = Coordinate(latitude: 59.91, longitude: 10.75)
        let places = [
            Coordinate(latitude: 59.92, longitude: 10.75),
            Coordinate(latitude: 60, longitude: 10.75),
            Coordinate(latitude: -33.9, longitude: 151.2),
        ]
        for others in [0, 1000] {
            var index = PointIndex()
            for other in 0..<others { index.set(places[2], for: Slot(other + 10)) }
            index.set(places, for: 3)
            index.set(oslo, for: 4)
            let circle = GeoCircle(oslo, radiusMeters: 50_000)
            #expect(index.count(in: .circle(circle)) == 2)
            let found = walk(index.nearest(by: circle.distance, within: 50_000))
            #expect(found.map(\.slot) == [4, 3])
            #expect(found[1].distance == circle.distance.distance(to: places[0]))
            index.set(Array(places.dropFirst()), for: 3)
            let later = walk(index.nearest(by: circle.distance, within: 50_000))
            #expect(later[1].distance == circle.distance.distance(to: places[1]))
            index.set(places[2], for: 3)
            #expect(index.count(in: .circle(circle)) == 1 && index.pointCount == others + 2)
            index.remove(3)
            #expect(index.count == others + 1 && index.violations() == [])
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
        let circle = GeoCircle(SlotPositions.nowhere)
        let world = try GeoPolygon([[ring]])
        // Everything lies within 1,000 km of meridians 15 degrees apart.
        let meridians = stride(from: -180.0, to: 180, by: 15).enumerated().flatMap {
            turn, longitude in
            [-90.0, 0, 90].map {
                Coordinate(latitude: turn % 2 == 0 ? $0 : -$0, longitude: longitude)
            }
        }
        let corridor = GeoCorridor(try GeoLine(meridians), widthMeters: 1_000_000)
        let shapes: [GeoShape] = [
            .box(.world), .polygon(world), .circle(circle), .corridor(corridor),
        ]
        for shape in shapes {
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
                set(positions.points(&random), for: slot)
            }
            if random.below(400) == 0 { snapshots.append((index, scan)) }
            mergeSometimes(&random)
        }
    }

    private mutating func set(_ points: [Coordinate], for slot: Slot) {
        if points.count == 1 {
            index.set(points[0], for: slot)
            scan.set(points[0], for: slot)
        } else {
            index.set(points, for: slot)
            scan.set(points, for: slot)
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
    #expect(index.pointCount == scan.pointCount, "\(context)")
    for _ in 0..<rounds {
        let slot = Slot(random.below(1000))
        let (found, expected) = (index.position(of: slot), scan.position(of: slot))
        #expect(found.count == expected.count, "\(context), slot \(slot)")
        #expect(Set(found.points) == Set(expected.points), "\(context), slot \(slot)")
        comparePositions(index, scan, &random, context)
        let box = positions.box(&random)
        compare(index, scan, .box(box), "\(context), \(box)")
        for model in DistanceModel.allCases {
            compareCircle(index, scan, positions, model, &random, context)
        }
    }
}

/// Compares the positions of many slots, asked for at once.
private func comparePositions(
    _ index: PointIndex, _ scan: LinearScan, _ random: inout SplitMix64, _ context: String
) {
    var slots = (0..<random.below(40)).map { _ in Slot(random.below(1200)) }
    var positions: [SlotPosition] = []
    slots.withUnsafeMutableBufferPointer {
        index.forEachPosition(of: $0) {
            positions.append($0.map { .one($0) } ?? .nowhere)
        } several: {
            positions.append(.several($0))
        }
    }
    #expect(positions == slots.map(index.position), "\(context)")
    #expect(positions.map(\.count) == slots.map { scan.position(of: $0).count }, "\(context)")
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
    let measure = GeoCircle(SlotPositions.nowhere).distance
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
    var selected = index.nearest(by: measure, within: radius)
    var thirds: [MeasuredPoint] = []
    while let (slot, distance) = selected.next(
        of: { $0.keep { $0 % 3 == 0 } }, until: { false })
    {
        thirds.append(MeasuredPoint(distance: distance, slot: slot))
    }
    #expect(thirds == inCircle.filter { $0.slot % 3 == 0 }, "\(here), every third")
    compare(index, scan, .circle(circle), here)
}

extension UnsafeMutableBufferPointer<Slot> {
    /// Moves the elements that satisfy a condition to the front, in their order.
    ///
    /// - Returns: the number of these elements.
    fileprivate func keep(where isKept: (Slot) -> Bool) -> Int {
        var kept = 0
        for slot in self where isKept(slot) {
            self[kept] = slot
            kept += 1
        }
        return kept
    }
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

func measured(
    _ points: some PointSet, _ shape: GeoShape, _ measure: GeoMeasure
) -> [MeasuredPoint] {
    var found: [MeasuredPoint] = []
    points.visit(in: shape, by: measure) {
        found += $0
        return true
    }
    return found.sorted()
}
