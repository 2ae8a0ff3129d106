import Geodesy
import PersistentStructures
import TestSupport
import Testing

@testable import SpatialIndex

@Suite struct BoxIndexTests {
    typealias Piece = PreparedPlace.Piece

    /// Small and large boxes, some over the antimeridian, at poles and without width.
    private static func box(_ random: inout SplitMix64) -> GeoBox {
        let size = random.pick([0, 0.001, 0.1, 2, 40])
        let south = random.pick([random.number(-90...90), -90, 89, 0, 51.5])
        let west = random.pick([random.number(-180...180), -180, 179.5, 180, 0, -0.1])
        let east = west + size * random.number(0...1)
        return GeoBox(
            south: south, west: west, north: min(90, south + size * random.number(0...1)),
            east: east > 180 ? east - 360 : east)
    }

    private static func pieces(_ random: inout SplitMix64) -> [Piece] {
        (0..<random.pick([1, 1, 1, 2, 5])).map { _ in
            Piece(box: box(&random), isWhole: random.oneIn(3))
        }
    }

    /// The box, a ten thousandth of a degree wider.
    private static func widened(_ box: GeoBox) -> GeoBox {
        let hair = 1e-4
        var (west, east) = (box.west - hair, box.east + hair)
        if box.west <= box.east, east - west >= 360 { (west, east) = (-180, 180) }
        if west < -180 { west += 360 }
        if east > 180 { east -= 360 }
        return GeoBox(
            south: max(-90, box.south - hair), west: west, north: min(90, box.north + hair),
            east: east)
    }

    /// Whether the index finds what the scan does, and little else.
    private static func compare(
        _ index: BoxIndex, _ scan: BoxScan, _ random: inout SplitMix64, _ context: String
    ) {
        let box = random.oneIn(10) ? GeoBox.world : box(&random)
        var found: [Slot: Bool] = [:]
        index.visit(meeting: box) { slot, isSure in
            #expect(found[slot] == nil, "\(context): slot \(slot) twice")
            found[slot] = isSure
            return true
        }
        let (expected, near) = (scan.slots(meeting: box), scan.slots(meeting: widened(box)))
        for slot in expected.keys where found[slot] == nil {
            Issue.record("\(context): slot \(slot) is not found in \(box)")
        }
        for (slot, isSure) in found {
            #expect(near[slot] != nil, "\(context): slot \(slot) is far from \(box)")
            if isSure { #expect(expected[slot] == true, "\(context): slot \(slot), \(box)") }
        }
        if box == .world {
            #expect(found.count == scan.count && index.estimate(meeting: box) == index.boxCount)
        }
    }

    @Test(arguments: Seeds.first(12))
    func `A box index finds what a scan finds after every kind of write`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var index = BoxIndex(deltaCapacity: random.pick([8, 16]))
        var scan = BoxScan()
        var snapshots: [(BoxIndex, BoxScan)] = []
        var pending: BoxIndex.Merge?
        var installed = 0
        for step in 0..<1_500 {
            let context = "seed \(seed), step \(step)"
            let slot = Slot(random.below(random.pick([20, 400])))
            switch random.below(10) {
            case 0, 1:
                index.remove(slot)
                scan.remove(slot)
            case 2 where step % 50 == 0:
                for slot in 0..<Slot(400) where random.oneIn(2) {
                    index.remove(slot)
                    scan.remove(slot)
                }
            default:
                let pieces = random.oneIn(30) ? [] : Self.pieces(&random)
                index.set(pieces, for: slot)
                scan.set(pieces, for: slot)
            }
            if step % 40 == 39 {
                if let pending, index.install(pending.run()) { installed += 1 }
                pending = random.oneIn(3) ? index.wholeMerge() : index.pendingMerge()
            }
            if step % 25 == 0 { Self.compare(index, scan, &random, context) }
            if step % 100 == 0 {
                #expect(index.violations() == [], "\(context)")
                #expect(index.count == scan.count, "\(context)")
                snapshots.append((index, scan))
            }
        }
        #expect(installed > 0, "seed \(seed)")
        for (number, (index, scan)) in snapshots.enumerated() {
            #expect(index.violations() == [], "seed \(seed), snapshot \(number)")
            for _ in 0..<4 {
                Self.compare(index, scan, &random, "seed \(seed), snapshot \(number)")
            }
        }
    }

    @Test(arguments: Seeds.first(6))
    func `A bulk load is as writes are, and removes to nothing`(seed: UInt64) {
        var random = SplitMix64(seed: 40 + seed)
        let places = (0..<Slot(random.pick([3, 300, 2_000]))).map {
            (slot: $0, pieces: Self.pieces(&random))
        }
        var index = BoxIndex(bulk: places)
        var scan = BoxScan()
        for place in places { scan.set(place.pieces, for: place.slot) }
        #expect(index.violations() == [] && index.count == places.count)
        for _ in 0..<40 { Self.compare(index, scan, &random, "seed \(seed)") }
        for place in places.shuffled(using: &random) {
            #expect(index.contains(place.slot))
            index.remove(place.slot)
            #expect(!index.contains(place.slot))
        }
        #expect(index.violations() == [] && index.count == 0 && index.boxCount == 0)
    }

    @Test(arguments: Seeds.first(8))
    func `A walk tells places in the order of their distance, ties by slot`(seed: UInt64) {
        var random = SplitMix64(seed: 80 + seed)
        var (index, scan) = (BoxIndex(deltaCapacity: 16), BoxScan())
        var places: [Slot: PreparedPlace] = [:]
        for slot in 0..<Slot(random.pick([5, 200])) {
            var place = PreparedPlace(.box(Self.box(&random)))
            // Equal places are equally far.
            if random.oneIn(4), let other = places.values.first { place = other }
            places[slot] = place
            index.set(place.pieces(limit: 8), for: slot)
            scan.set(place.pieces(limit: 8), for: slot)
        }
        for slot in places.keys.sorted() where random.oneIn(5) {
            places[slot] = nil
            index.remove(slot)
            scan.remove(slot)
        }
        for round in 0..<20 {
            let position = Coordinate(
                latitude: random.pick([random.number(-90...90), 90, 0]),
                longitude: random.pick([random.number(-180...180), 180, -180]))
            let radius = random.pick([Double.infinity, 1_000_000, 0])
            func measure(_ slot: Slot) -> Distance? { places[slot]?.distance(from: position) }
            let expected = scan.nearest(within: radius, measure: measure)
            let skipped = expected.isEmpty ? 0 : random.below(expected.count)
            var walk = index.nearest(
                to: position, within: radius, after: skipped > 0 ? expected[skipped - 1] : nil)
            var found: [MeasuredPoint] = []
            while let (slot, distance) = walk.next(measure: measure) {
                found.append(MeasuredPoint(distance: distance, slot: slot))
            }
            #expect(
                found == Array(expected[skipped...]),
                "seed \(seed), round \(round): \(position), \(radius) m")
        }
    }

    @Test func `A walk measures few places`() {
        var index = BoxIndex()
        for row in 0..<100 {
            for column in 0..<100 {
                let (south, west) = (Double(row) / 10, Double(column) / 10)
                let box = GeoBox(south: south, west: west, north: south + 0.05, east: west + 0.05)
                index.set([Piece(box: box, isWhole: true)], for: Slot(row * 100 + column))
            }
        }
        let position = Coordinate(latitude: 5.02, longitude: 5.02)
        var walk = index.nearest(to: position)
        var found: [Slot] = []
        while found.count < 10,
            let (slot, _) = walk.next(measure: { slot in
                let (south, west) = (Double(slot / 100) / 10, Double(slot % 100) / 10)
                return PreparedPlace(
                    .box(GeoBox(south: south, west: west, north: south + 0.05, east: west + 0.05))
                ).distance(from: position)
            })
        {
            found.append(slot)
        }
        #expect(found[0] == 5_050 && walk.measuredPlaces < 30, "\(walk.measuredPlaces)")
    }

    @Test func `What is wrong with an index is told`() {
        func sound() -> BoxIndex {
            var index = BoxIndex(deltaCapacity: 8)
            for slot in 0..<Slot(36) {
                let box = GeoBox(south: 0, west: Double(slot), north: 1, east: Double(slot) + 1)
                index.set([Piece(box: box, isWhole: false)], for: slot)
            }
            return index
        }
        #expect(sound().violations() == [])
        let faults: [(String, (inout BoxIndex) -> Void)] = [
            ("the index counts 37 slots and holds 36", { $0.count += 1 }),
            ("the index counts 37 boxes and holds 36", { $0.boxCount += 1 }),
            ("delta: slot 32 has stamp 1, not", { $0.delta[0].stamp = 1 }),
            ("tier 0 counts 1 dead entries and has 0", { $0.tiers[0].dead += 1 }),
            ("slot 3 has 1 boxes, and others by slot", { $0.sizes[3] = 2 }),
            ("37 slots have stamps, not 36", { $0.stamps.set(60, 1, fillingWith: 0) }),
            ("delta: slot 33 is alive twice", { $0.delta.append($0.delta[1]) }),
            ("tier 1 begins at an epoch of the tier before it", { $0.tiers.swapAt(0, 1) }),
        ]
        for (sentence, make) in faults {
            var index = sound()
            make(&index)
            let found = index.violations()
            #expect(found.contains { $0.hasPrefix(sentence) }, "\(sentence): \(found)")
        }
    }
}
