import Geodesy
import PersistentStructures
import TestSupport
import Testing

@testable import SpatialIndex

/// Many points at different places that are equally far away: parallels around a pole.
@Suite struct RingTests {
    private static let pole = Coordinate(latitude: 90, longitude: 0)

    private static func place(
        _ latitudes: [Double], _ random: inout SplitMix64
    ) -> Coordinate {
        Coordinate(
            latitude: latitudes[random.below(latitudes.count)],
            longitude: Double(random.below(3_600_000)) / 10_000 - 180)
    }

    private static func point(_ random: inout SplitMix64) -> Coordinate {
        random.below(8) == 0
            ? PointDistribution.cities.position(&random) : place([10, 10, 10, -30], &random)
    }

    /// An index whose rings are in a large tier, in small ones and in the delta, with dead entries and
    /// slots of several points.
    private func world(_ random: inout SplitMix64) -> (PointIndex, LinearScan) {
        let points = (0..<3_000).map { (slot: Slot($0), coordinate: Self.point(&random)) }
        var (index, scan) = (
            PointIndex(bulk: points, deltaCapacity: 32), LinearScan(bulk: points)
        )
        for _ in 0..<1_000 {
            let slot = Slot(random.below(4_000))
            switch random.below(6) {
            case 0:
                index.remove(slot)
                scan.remove(slot)
            case 1:
                let points = (0..<1 + random.below(3)).map { _ in Self.point(&random) }
                index.set(points, for: slot)
                scan.set(points, for: slot)
            default:
                let point = Self.point(&random)
                index.set(point, for: slot)
                scan.set(point, for: slot)
            }
            if random.below(300) == 0, let job = index.pendingMerge() { index.install(job.run()) }
        }
        return (index, scan)
    }

    @Test(arguments: DistanceModel.allCases)
    func `a walk goes through a ring as the scan does, from any place in it`(
        model: DistanceModel
    ) {
        for seed in Seeds.first(3) {
            var random = SplitMix64(seed: seed)
            let (index, scan) = world(&random)
            #expect(index.tiers.count > 2, "seed \(seed)")
            for center in [Self.pole, Self.pole.antipode, Self.point(&random)] {
                for radius in [Double.infinity, 9_000_000] {
                    let measure = GeoCircle(center, model: model).distance
                    let all = walk(scan.nearest(by: measure, within: radius))
                    #expect(walk(index.nearest(by: measure, within: radius)) == all)
                    for _ in 0..<20 where !all.isEmpty {
                        let number = random.below(all.count)
                        let here = "seed \(seed), \(model), behind \(all[number]) of \(center)"
                        for count in [1, 11, 3_000] {
                            let next = index.nearest(
                                by: measure, within: radius, after: all[number], atMost: count)
                            #expect(
                                walk(next) == Array(all[(number + 1)...].prefix(count)), "\(here)")
                        }
                        var thirds = index.nearest(
                            by: measure, within: radius, after: all[number])
                        for expected in all[(number + 1)...].filter({ $0.slot % 3 == 0 }) {
                            let found = thirds.next(of: keepThirds) { false }
                            guard found?.slot == expected.slot else {
                                Issue.record("\(here), every third")
                                break
                            }
                            #expect(found?.distance == expected.distance)
                        }
                        #expect(thirds.next(of: keepThirds) { false } == nil)
                    }
                }
            }
        }
    }

    private func keepThirds(_ slots: UnsafeMutableBufferPointer<Slot>) -> Int {
        var kept = 0
        for slot in slots where slot % 3 == 0 {
            slots[kept] = slot
            kept += 1
        }
        return kept
    }

    /// A ring among as many other points.
    private func ring(_ count: Int) -> PointIndex {
        var random = SplitMix64(seed: 7)
        return PointIndex(
            bulk: (0..<2 * count).map { number in
                (
                    slot: Slot(number),
                    coordinate: number % 2 == 0
                        ? Self.place([80], &random) : PointDistribution.cities.position(&random)
                )
            })
    }

    @Test(arguments: DistanceModel.allCases)
    func `a page within a ring visits few of its points`(model: DistanceModel) {
        let (index, measure) = (ring(50_000), GeoCircle(Self.pole, model: model).distance)
        let distance = measure.distance(to: Coordinate(latitude: 80, longitude: 1))
        for after in [0, 1_000, 60_000, 99_000] as [Slot] {
            let cursor = MeasuredPoint(distance: distance, slot: after)
            var page = index.nearest(by: measure, after: cursor, atMost: 10)
            for number in 1...10 {
                let slot = after / 2 * 2 + 2 * Slot(number)
                let found = page.next()
                #expect(found?.slot == slot && found?.distance == distance, "behind \(after)")
            }
            #expect(page.visitedPoints < 500 && page.visitedNodes < 500, "\(page.visitedPoints)")
        }
    }

    @Test func `paging through a ring takes time in proportion to the points`() {
        func visits(_ count: Int) -> Int {
            let (index, measure) = (ring(count), GeoCircle(Self.pole).distance)
            let far = measure.distance(to: Coordinate(latitude: 80, longitude: 1))
            var (cursor, visits, found) = (MeasuredPoint(distance: far, slot: 0), 0, 1)
            while cursor.distance == far {
                var page = index.nearest(by: measure, after: cursor, atMost: 100)
                while let (slot, distance) = page.next() {
                    cursor = MeasuredPoint(distance: distance, slot: slot)
                    if distance == far { found += 1 }
                }
                visits += page.visitedPoints + page.visitedNodes
            }
            #expect(found == count)
            return visits
        }
        // A page looks at √n points before it knows that it is in a ring.
        let (few, many) = (visits(10_000), visits(100_000))
        #expect(many < 20 * few, "\(many) visits for ten times as many points as with \(few)")
    }

    @Test func `a walk among unwanted points of a ring is ended within them`() {
        let (index, measure) = (ring(50_000), GeoCircle(Self.pole).distance)
        let distance = measure.distance(to: Coordinate(latitude: 80, longitude: 1))
        var (walk, asked) = (
            index.nearest(by: measure, after: MeasuredPoint(distance: distance, slot: 0)), 0
        )
        let isOver = {
            asked += 1
            return asked == 20
        }
        #expect(walk.next(of: { _ in 0 }, until: isOver) == nil)
        #expect(asked == 20 && walk.visitedPoints < 40_000)
    }
}
