import Geodesy
import PersistentStructures
import TestSupport
import Testing

@testable import SpatialIndex

@Suite struct MergeTests {
    private func fleet(_ size: Int, _ random: inout SplitMix64) -> (PointIndex, LinearScan) {
        let points = (0..<size).map {
            (slot: Slot($0), coordinate: PointDistribution.cities.position(&random))
        }
        return (PointIndex(bulk: points), LinearScan(bulk: points))
    }

    private func move(
        _ index: inout PointIndex, _ scan: inout LinearScan, size: Int,
        _ random: inout SplitMix64
    ) {
        let slot = Slot(random.below(size))
        if random.below(20) == 0 {
            index.remove(slot)
            scan.remove(slot)
        } else {
            let points = PointDistribution.cities.points(&random)
            index.set(points, for: slot)
            scan.set(points, for: slot)
        }
    }

    @Test func `a merge installed late keeps the writes made meanwhile`() {
        for seed in UInt64(1)...3 {
            var random = SplitMix64(seed: seed)
            var (index, scan) = fleet(5000, &random)
            var pending: MergeJob?
            var installed = 0
            for step in 0..<12_000 {
                move(&index, &scan, size: 6000, &random)
                if step % 700 == 699 {
                    if let job = pending, index.install(job.run()) { installed += 1 }
                    pending = index.pendingMerge()
                    #expect(index.violations() == [], "seed \(seed), step \(step)")
                }
            }
            #expect(installed > 2, "seed \(seed)")
            compare(index, scan, .cities, &random, rounds: 4, "seed \(seed)")
        }
    }

    @Test(arguments: [8, 9, 16, 50])
    func `an index of small trees answers as one of large ones`(deltaCapacity: Int) {
        var random = SplitMix64(seed: UInt64(deltaCapacity))
        var (index, scan) = (PointIndex(deltaCapacity: deltaCapacity), LinearScan())
        var (pending, mostTiers): (MergeJob?, Int) = (nil, 0)
        for step in 0..<6_000 {
            move(&index, &scan, size: 600, &random)
            // Now many points, now few.
            for slot in 0..<Slot(step % 2_000 == 1_999 ? 595 : 0) {
                index.remove(slot)
                scan.remove(slot)
            }
            mostTiers = max(mostTiers, index.tiers.count)
            if step % 30 == 29 {
                if let job = pending { index.install(job.run()) }
                pending = step % 60 == 59 ? index.pendingMerge() : index.wholeMerge()
            }
            if step % 500 == 499 {
                #expect(index.violations() == [], "step \(step)")
                compare(index, scan, .cities, &random, rounds: 1, "step \(step)")
            }
        }
        #expect(mostTiers > 2)
    }

    @Test func `a point that is set again where it is leaves no entry behind`() {
        var random = SplitMix64(seed: 11)
        var (index, scan) = fleet(1000, &random)
        for _ in 0..<3 {
            for slot in Slot(0)..<1000 { index.set(index.position(of: slot).points, for: slot) }
        }
        #expect(index.delta.isEmpty && index.tiers.map(\.dead) == [0])
        index.remove(3)
        scan.remove(3)
        for slot in [3, 4, 1000] as [Slot] {
            // The equator from both sides is one place in two spellings, each of which is kept.
            for latitude in [0.0, -0.0] {
                index.set(Coordinate(latitude: latitude, longitude: 180), for: slot)
                #expect(index.position(of: slot).points[0].latitude.sign == latitude.sign)
            }
            scan.set(Coordinate(latitude: -0.0, longitude: 180), for: slot)
        }
        compare(index, scan, .cities, &random, rounds: 4, "after points were set again")
        #expect(index.violations() == [])
    }

    @Test func `without anyone to merge, tiers and memory stay bounded`() {
        var random = SplitMix64(seed: 7)
        var (index, scan) = fleet(3000, &random)
        let packed = index.memoryBytes / index.pointCount
        for step in 0..<40_000 {
            move(&index, &scan, size: 3000, &random)
            if step % 1000 == 0 {
                #expect(index.tiers.count <= PointIndex.maximumTiers, "step \(step)")
                #expect(index.memoryBytes < 4 * packed * index.pointCount, "step \(step)")
            }
        }
        compare(index, scan, .cities, &random, rounds: 4, "after 40,000 moves")
    }

    @Test func `with merges, a moving fleet is not larger than two resting ones`() {
        var random = SplitMix64(seed: 8)
        var (index, scan) = fleet(3000, &random)
        let packed = index.memoryBytes / index.pointCount
        for _ in 0..<20_000 {
            move(&index, &scan, size: 3000, &random)
            if let job = index.pendingMerge() { index.install(job.run()) }
            if index.pendingMerge() != nil { Issue.record("still pending after a merge") }
        }
        #expect(index.memoryBytes < 2 * packed * index.pointCount)
        compare(index, scan, .cities, &random, rounds: 4, "after 20,000 moves")
    }

    @Test func `a merge of all tiers leaves one, and what was written meanwhile`() {
        var random = SplitMix64(seed: 13)
        var (index, scan) = fleet(3000, &random)
        #expect(index.wholeMerge() == nil)
        for _ in 0..<3000 { move(&index, &scan, size: 4000, &random) }
        guard index.tiers.count > 1, let job = index.wholeMerge() else {
            Issue.record("nothing to merge after 3,000 moves")
            return
        }
        for _ in 0..<20 { move(&index, &scan, size: 4000, &random) }
        let isInstalled = index.install(job.run())
        #expect(isInstalled && index.tiers.count <= 2 && index.violations() == [])
        compare(index, scan, .cities, &random, rounds: 4, "written meanwhile")
        if let job = index.wholeMerge() { index.install(job.run()) }
        #expect(index.tiers.count == 1 && index.wholeMerge() == nil)
        compare(index, scan, .cities, &random, rounds: 4, "at rest")
    }

    @Test func `a merge whose sources are gone is not installed`() {
        var random = SplitMix64(seed: 9)
        var (index, scan) = fleet(3000, &random)
        for slot in 0..<Slot(1000) {
            index.remove(slot)
            scan.remove(slot)
        }
        guard let job = index.pendingMerge() else {
            Issue.record("nothing to merge with a third dead")
            return
        }
        let merged = job.run()
        let first = index.install(merged)
        let second = index.install(merged)
        #expect(first && !second)
        #expect(job.entryCount == 2000)
        compare(index, scan, .cities, &random, rounds: 2, "merged")
    }

    @Test func `when the stamps run out the index is numbered anew`() {
        var random = SplitMix64(seed: 10)
        var index = PointIndex(epoch: Stamp.lastEpoch - 5, deltaCapacity: 256)
        var scan = LinearScan()
        for step in 0..<4000 {
            move(&index, &scan, size: 1000, &random)
            if step % 200 == 0 { #expect(index.violations() == [], "step \(step)") }
        }
        #expect(index.epoch < 100)
        compare(index, scan, .cities, &random, rounds: 4, "renumbered")
    }

    @Test func `an index that is emptied gives its memory back`() {
        var random = SplitMix64(seed: 11)
        var (index, scan) = fleet(3000, &random)
        for slot in 0..<Slot(2995) {
            index.remove(slot)
            scan.remove(slot)
        }
        #expect(index.tiers.isEmpty && index.memoryBytes < 10_000)
        compare(index, scan, .cities, &random, rounds: 2, "five left")
        for slot in 0..<Slot(3000) { index.remove(slot) }
        #expect(index.count == 0 && index.violations() == [])
    }

    @Test func `when the last tree dies the index is a delta again`() {
        var random = SplitMix64(seed: 14)
        for size in [100, 2200] {
            var (index, scan) = fleet(size, &random)
            for slot in 0..<Slot(size - 90) {
                index.remove(slot)
                scan.remove(slot)
            }
            for slot in Slot(size - 90)..<Slot(size - 1) {
                let position = PointDistribution.cities.position(&random)
                index.set(position, for: slot)
                scan.set(position, for: slot)
            }
            while let job = index.pendingMerge() { index.install(job.run()) }
            index.remove(Slot(size - 1))
            scan.remove(Slot(size - 1))
            #expect(index.tiers.isEmpty, "\(size) points")
            compare(index, scan, .cities, &random, rounds: 2, "\(size) points, 89 left")
            for _ in 0..<2000 { move(&index, &scan, size: size, &random) }
            compare(index, scan, .cities, &random, rounds: 2, "\(size) points, moved")
        }
    }

    @Test func `a page far behind opens about as many nodes as the first`() {
        var random = SplitMix64(seed: 12)
        let (index, _) = fleet(5000, &random)
        let center = Coordinate(latitude: 35.68, longitude: 139.69)
        let measure = GeoCircle(center).distance
        var whole = index.nearest(by: measure)
        var cursor: MeasuredPoint?
        for _ in 0..<900 {
            cursor = whole.next().map { MeasuredPoint(distance: $0.distance, slot: $0.slot) }
        }
        var page = index.nearest(by: measure, after: cursor)
        for _ in 0..<10 { _ = page.next() }
        #expect(page.visitedPoints < 40)
        #expect(page.visitedNodes < whole.visitedNodes / 2)
    }

    @Test func `estimates of large answers are close`() {
        var random = SplitMix64(seed: 13)
        let points = (0..<5000).map {
            (slot: Slot($0), coordinate: PointDistribution.uniform.position(&random))
        }
        let index = PointIndex(bulk: points)
        for _ in 0..<20 {
            let center = PointDistribution.uniform.position(&random)
            let circle = GeoShape.circle(GeoCircle(center, radiusMeters: 5_000_000))
            let exact = Double(index.count(in: circle))
            let estimate = Double(index.estimate(in: circle))
            #expect(abs(estimate - exact) < 0.2 * exact, "\(center): \(estimate) for \(exact)")
        }
        #expect(index.estimate(in: .box(.world)) == 5000)
    }
}
