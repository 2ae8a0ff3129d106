import Geodesy
import PersistentStructures
import TestSupport
import Testing

@testable import SpatialIndex

/// Counts by cells, against a look at every slot.
@Suite struct GridTallyTests {
    @Test(arguments: PointDistribution.allCases)
    func `Cells count what lies in them, with updates, removals and several places`(
        positions: PointDistribution
    ) {
        for seed in UInt64(1)...8 {
            var random = SplitMix64(seed: seed)
            for size in [0, 1, 64, 65, 900] {
                let isPlain = random.below(2) == 0
                let points = (0..<size).map {
                    (slot: Slot(isPlain ? $0 : $0 * 2 / 3), coordinate: positions.position(&random))
                }
                var (index, scan) = (PointIndex(bulk: points), LinearScan(bulk: points))
                if random.below(2) == 0 {
                    Self.change(&index, &scan, size, positions, &random)
                }
                for level in [0, 1, 4, 11, 26, 30] {
                    let context = "seed \(seed), \(positions), \(size) points, level \(level)"
                    Self.compare(index, scan, size, GridWindow(level: level), nil, context)
                    let window = GridWindow(level: level, meeting: Self.box(&random))
                    Self.compare(index, scan, size, window, nil, context)
                    Self.compare(index, scan, size, window, { $0 % 3 != 0 }, context)
                }
            }
        }
    }

    private static func change(
        _ index: inout PointIndex, _ scan: inout LinearScan, _ size: Int,
        _ positions: PointDistribution, _ random: inout SplitMix64
    ) {
        for _ in 0..<size / 2 {
            let slot = Slot(random.below(size + 3))
            let points = (0..<random.below(4)).map { _ in positions.position(&random) }
            if points.isEmpty {
                index.remove(slot)
                scan.remove(slot)
            } else {
                index.set(points, for: slot)
                scan.set(points, for: slot)
            }
        }
    }

    private static func box(_ random: inout SplitMix64) -> GeoBox {
        let latitudes = [random.number(-90...90), random.number(-90...90)]
        return GeoBox(
            south: latitudes.min()!, west: random.number(-180...180), north: latitudes.max()!,
            east: random.number(-180...180))
    }

    private static func compare(
        _ index: PointIndex, _ scan: LinearScan, _ size: Int, _ window: GridWindow,
        _ isCounted: ((Slot) -> Bool)?, _ context: String
    ) {
        var expected: [GridCell: Set<WorldPlace>] = [:]
        for slot in (0..<size + 4).map(Slot.init) where isCounted?(slot) ?? true {
            for point in scan.position(of: slot).points {
                let place = WorldGrid(point)
                let cell = place.cell(level: window.level)
                guard window.contains(cell) else { continue }
                expected[cell, default: []].insert(WorldPlace(slot: slot, place: place))
            }
        }
        var tally = GridTally(window, atMost: 4_096)
        var isWhole = true
        if let isCounted {
            let slots = (0..<Slot(size + 4)).filter(isCounted)
            isWhole = index.count(SlotSet(slots, below: size + 4), into: &tally)
        } else {
            isWhole = index.count(into: &tally)
        }
        #expect(isWhole)
        let found = tally.sorted()
        #expect(found.map(\.cell) == expected.keys.sorted(), "\(context)")
        for (cell, sum) in found {
            guard let members = expected[cell] else { continue }
            let slots = Set(members.map(\.slot))
            #expect(sum.count == slots.count, "\(context), \(cell)")
            #expect(slots.contains(sum.slot), "\(context), \(cell)")
            let mean = { (axis: (WorldGrid) -> UInt32) in
                Double(members.reduce(UInt64(0)) { $0 + UInt64(axis($1.place)) })
                    / Double(members.count)
            }
            let center = WorldGrid.place(x: mean(\.x), y: mean(\.y))
            #expect(abs(center.latitude - sum.center.latitude) < 1e-9, "\(context), \(cell)")
            #expect(abs(center.longitude - sum.center.longitude) < 1e-9, "\(context), \(cell)")
        }
    }

    /// A place of a slot; one that it has twice counts once.
    private struct WorldPlace: Hashable {
        let slot: Slot
        let place: WorldGrid
    }

    @Test func `A tally takes as many cells as it may have, and says so with one more`() {
        let points = (0..<10).map {
            (
                slot: Slot($0),
                coordinate: Coordinate(latitude: -0.1, longitude: Double($0) * 30 - 150)
            )
        }
        let index = PointIndex(bulk: points)
        let all = SlotSet(points.map(\.slot), below: points.count)
        // Of one row there are so few cells that each has its place.
        let row = GeoBox(south: -0.1, west: -180, north: -0.1, east: 180)
        for window in [GridWindow(level: 8), GridWindow(level: 4, meeting: row)] {
            for (limit, isOverfull) in [(9, true), (10, false), (11, false)] {
                var tally = GridTally(window, atMost: limit)
                _ = index.count(into: &tally)
                var (found, isFull) = (tally.cellCount, tally.isOverfull)
                #expect(isFull == isOverfull && found == 10, "\(limit)")
                tally = GridTally(window, atMost: limit)
                _ = index.count(all, into: &tally)
                (found, isFull) = (tally.cellCount, tally.isOverfull)
                #expect(isFull == isOverfull && found == 10, "\(limit)")
            }
        }
    }

    @Test func `A count that has to end early says so`() {
        let points = (0..<100_000).map {
            (slot: Slot($0), coordinate: Coordinate(latitude: 1, longitude: Double($0) / 1_000))
        }
        let index = PointIndex(bulk: points)
        var tally = GridTally(GridWindow(level: 20), atMost: points.count)
        var isWhole = index.count(into: &tally, until: { true })
        #expect(!isWhole)
        tally = GridTally(GridWindow(level: 20), atMost: points.count)
        let slots = SlotSet(points.map(\.slot), below: points.count)
        isWhole = index.count(slots, into: &tally, until: { true })
        #expect(!isWhole)
    }

    @Test func `A set has the slots that it was made of, and no others`() {
        let slots: [Slot] = [0, 63, 64, 130, 199]
        let set = SlotSet(slots, below: 200)
        #expect((0..<1_000).filter(set.contains) == slots)
        #expect(set.slots == slots && set.count == slots.count)
        #expect((0..<1_000).allSatisfy { !SlotSet([], below: 0).contains($0) })
    }

    @Test func `A set of codes has the slots whose code is a member`() {
        // Few codes, none, all but few, all, and many.
        let tests: [(Int) -> Bool] = [
            { $0 == 3 }, { $0 == 0 || $0 == 199 }, { _ in false }, { $0 != 3 }, { _ in true },
            { $0 % 7 == 3 },
        ]
        for count in [0, 1, 63, 64, 65, 255, 256, 257, 8_192, 9_000] {
            var random = SplitMix64(seed: UInt64(count))
            var (bytes, shorts) = (PersistentArray<UInt8>(), PersistentArray<UInt16>())
            for _ in 0..<count {
                bytes.append(UInt8(random.below(200)))
                shorts.append(UInt16(random.below(300)))
            }
            for (number, isMember) in tests.enumerated() {
                let few = SlotSet(of: bytes, below: 200, where: isMember)
                #expect(
                    few.slots == (0..<Slot(count)).filter { isMember(Int(bytes[Int($0)])) },
                    "\(count) slots, test \(number)")
                let many = SlotSet(of: shorts, below: 300, where: isMember)
                #expect(
                    many.slots == (0..<Slot(count)).filter { isMember(Int(shorts[Int($0)])) },
                    "\(count) slots, test \(number)")
            }
        }
    }
}
