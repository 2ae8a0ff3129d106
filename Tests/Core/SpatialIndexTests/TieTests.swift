import Geodesy
import PersistentStructures
import TestSupport
import Testing

@testable import SpatialIndex

/// Many points at one place, as broken imports leave them.
@Suite struct TieTests {
    /// Where ties are, most of them in two spellings or beside a near place in the same cell.
    private static let places = [
        Coordinate(latitude: 0, longitude: 0), Coordinate(latitude: -0.0, longitude: 0),
        Coordinate(latitude: 0, longitude: 1e-7), Coordinate(latitude: 90, longitude: 0),
        Coordinate(latitude: 90, longitude: 77), Coordinate(latitude: -90, longitude: -180),
        Coordinate(latitude: 12.3, longitude: 180), Coordinate(latitude: 12.3, longitude: -180),
    ]

    private static func point(_ random: inout SplitMix64) -> Coordinate {
        random.below(12) == 0
            ? PointDistribution.cities.position(&random) : places[random.below(places.count)]
    }

    /// An index whose ties are in a large tier, in small ones and in the delta, some of them dead
    /// and some of slots that have other points too.
    private func world(_ random: inout SplitMix64) -> (PointIndex, LinearScan) {
        let points = (0..<3_000).map { (slot: Slot($0), coordinate: Self.point(&random)) }
        var (index, scan) = (
            PointIndex(bulk: points, deltaCapacity: 32), LinearScan(bulk: points)
        )
        for _ in 0..<2_000 + random.below(40) {
            let slot = Slot(random.below(4_000))
            switch random.below(8) {
            case 0, 1:
                index.remove(slot)
                scan.remove(slot)
            case 2:
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
    func `a walk goes through ties as the scan does, from any place in them`(
        model: DistanceModel
    ) {
        for seed in Seeds.first(3) {
            var random = SplitMix64(seed: seed)
            let (index, scan) = world(&random)
            #expect(index.violations() == [] && index.tiers.count > 2, "seed \(seed)")
            for center in Self.places + [Self.point(&random), Self.point(&random).antipode] {
                let measure = GeoCircle(center, model: model).distance
                let all = walk(scan.nearest(by: measure))
                #expect(walk(index.nearest(by: measure)) == all, "seed \(seed), \(center)")
                for _ in 0..<30 {
                    let number = random.below(all.count)
                    let rest = all[(number + 1)...].prefix(20)
                    let here = "seed \(seed), \(model), behind \(all[number]) of \(center)"
                    let next = index.nearest(by: measure, after: all[number], atMost: 20)
                    #expect(walk(next) == Array(rest), "\(here)")
                    var thirds = index.nearest(by: measure, after: all[number])
                    for expected in all[(number + 1)...].filter({ $0.slot % 3 == 0 }).prefix(20) {
                        let found = thirds.next(of: keepThirds) { false }
                        #expect(found?.slot == expected.slot, "\(here), every third")
                        #expect(found?.distance == expected.distance, "\(here), every third")
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

    /// Ties of a size, in one tier and after one more has been written.
    private func ties(_ count: Int) -> [PointIndex] {
        let points = (0..<count).map { number in
            let isElsewhere = number % 7 == 0
            return (
                slot: Slot(number),
                coordinate: isElsewhere
                    ? Coordinate(latitude: 0.01 + Double(number) * 1e-6, longitude: 0)
                    : Coordinate(latitude: 0, longitude: 0)
            )
        }
        let index = PointIndex(bulk: points)
        var written = index
        for slot in 0..<Slot(3_000) {
            written.set(Coordinate(latitude: 0, longitude: 0), for: slot * 3)
        }
        return [index, written]
    }

    @Test(arguments: DistanceModel.allCases)
    func `a page among ties visits about as many points as it has`(model: DistanceModel) {
        for index in ties(60_000) {
            let measure = GeoCircle(Coordinate(latitude: 0, longitude: 0), model: model).distance
            for after in [0, 1, 31_415, 59_900] {
                let cursor = MeasuredPoint(distance: .zero, slot: Slot(after))
                var page = index.nearest(by: measure, after: cursor, atMost: 10)
                for _ in 0..<10 { #expect(page.next()?.distance == .zero) }
                #expect(page.visitedPoints < 500 && page.visitedNodes < 400, "behind \(after)")
            }
            var selected = index.nearest(by: measure)
            for _ in 0..<10 { _ = selected.next(of: keepThirds) { false } }
            #expect(selected.visitedPoints < 500 && selected.visitedNodes < 400)
        }
    }

    @Test func `paging through ties takes time in proportion to their number`() {
        func visits(_ count: Int) -> Int {
            let index = ties(count)[1]
            let measure = GeoCircle(Coordinate(latitude: 0, longitude: 0)).distance
            var (cursor, visits, found): (MeasuredPoint?, Int, Int) = (nil, 0, 0)
            repeat {
                var page = index.nearest(by: measure, within: 1, after: cursor, atMost: 100)
                cursor = nil
                var onPage = 0
                while let (slot, distance) = page.next() {
                    cursor = MeasuredPoint(distance: distance, slot: slot)
                    onPage += 1
                }
                found += onPage
                visits += page.visitedPoints + page.visitedNodes
                if onPage < 100 { break }
            } while cursor != nil
            #expect(
                found == index.count(in: .circle(GeoCircle(SlotPositions.nowhere, radiusMeters: 1)))
            )
            return visits
        }
        let (few, many) = (visits(20_000), visits(200_000))
        #expect(many < 12 * few, "\(many) visits for ten times as many ties as with \(few)")
        #expect(many < 10 * 200_000, "\(many) visits")
    }

    @Test func `a walk among unwanted ties is ended within them`() {
        let index = ties(60_000)[0]
        let measure = GeoCircle(Coordinate(latitude: 0, longitude: 0)).distance
        var (walk, asked) = (index.nearest(by: measure), 0)
        let isOver = {
            asked += 1
            return asked == 3
        }
        let found = walk.next(of: { _ in 0 }, until: isOver)
        #expect(found == nil && asked == 3 && walk.visitedNodes < 1_000)
    }
}
