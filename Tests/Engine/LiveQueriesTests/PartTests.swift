import Geodesy
import SyntheticData
import TestSupport
import Testing

@testable import LiveQueries

/// The parts that decide purely.
@Suite struct PartTests {
    @Test func `an object that enters and leaves unseen is not told`() {
        var effects = NetEffects()
        effects.add(event(1, held: .no, "a", change: 5))
        effects.add(event(1, held: .yes, nil, change: 6))
        #expect(effects.isEmpty && effects.bytes == 0)
    }

    @Test func `an object that leaves and enters again unseen changes`() {
        var effects = NetEffects()
        effects.add(event(1, held: .yes, nil, change: 5))
        effects.add(event(1, held: .no, "b", change: 6))
        let events = effects.take()
        #expect(events.count == 1)
        guard case .yes = events[0].held, case .present = events[0].outcome else {
            Issue.record("expected a change")
            return
        }
    }

    @Test func `an object that is again what the client shows is not told`() {
        for between in ["b", nil] {
            var effects = NetEffects()
            effects.add(event(1, held: .yes, between, change: 5, shown: "a"))
            effects.add(event(1, held: between == nil ? .no : .yes, "a", change: 6, shown: between))
            #expect(effects.isEmpty && effects.bytes == 0)
        }
    }

    @Test func `what a client may have leaves although it was never told`() {
        var effects = NetEffects()
        effects.add(event(1, held: .perhaps, "a", change: 5))
        effects.add(event(1, held: .yes, nil, change: 6))
        #expect(effects.count == 1)
    }

    @Test func `events are told in the order of their changes`() {
        var effects = NetEffects()
        effects.add(event(3, held: .no, "c", change: 9))
        effects.add(event(1, held: .yes, "a", change: 7))
        effects.add(event(2, held: .yes, nil, change: nil))
        effects.add(event(1, held: .yes, "aa", change: 11))
        #expect(effects.take().map(\.subject.first) == [2, 3, 1])
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `net effects are those of each object by itself, however many there are`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var together = NetEffects()
        var alone: [UInt64: NetEffects] = [:]
        var held: [UInt64: String] = [:]
        for change in 1...300 as ClosedRange<UInt64> {
            let subject = UInt64(random.below(Int(seed) * 2))
            let (shown, next) = (held[subject], random.pick(["a", "b", nil]))
            let event = event(
                subject, held: shown == nil ? .no : .yes, next, change: change, shown: shown)
            held[subject] = next
            together.add(event)
            alone[subject, default: NetEffects()].add(event)
            let all = alone.values
            #expect(together.count == all.reduce(0) { $0 + $1.count }, "seed \(seed)")
            #expect(together.bytes == all.reduce(0) { $0 + $1.bytes }, "seed \(seed)")
            guard random.oneIn(50) else { continue }
            var expected: [UInt64] = []
            for subject in Array(alone.keys) {
                expected += alone[subject]!.take().map { $0.change! }
            }
            #expect(together.take().map { $0.change! } == expected.sorted(), "seed \(seed)")
            #expect(together.isEmpty && together.bytes == 0, "seed \(seed)")
        }
    }

    private func event(
        _ subject: UInt64, held: Held, _ text: String?, change: UInt64?, shown: String? = nil
    ) -> WatchEvent {
        WatchEvent(
            subject: WatchSubject(first: subject), held: held,
            outcome: text.map { .present(text: Array($0.utf8)) }
                ?? .absent(.deleted, text: []), change: change,
            shown: shown.map { Array($0.utf8) })
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `the steps of a ranking turn the old list into the new one`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func list() -> RankedList {
            let count = random.below(12)
            let objects = Array(1...16).shuffled(using: &random).prefix(count)
            return RankedList(
                change: 1, time: 0,
                entries: objects.map {
                    RankedList.Entry(
                        creation: UInt64($0), change: 1, text: [UInt8(random.below(3))], id: [])
                })
        }
        let (old, new) = (list(), list())
        var applied = old.entries
        for step in old.steps(to: new) {
            switch step {
            case .leave(let entry): applied.removeAll { $0.creation == entry.creation }
            case .enter(let entry, let index): applied.insert(entry, at: index)
            case .change(let entry, let index, let from):
                #expect(applied[from ?? index].creation == entry.creation, "seed \(seed)")
                #expect(applied[from ?? index] != entry || from != index, "seed \(seed)")
                applied.remove(at: from ?? index)
                applied.insert(entry, at: index)
            }
        }
        #expect(applied == new.entries, "seed \(seed)")
        #expect(new.steps(to: new).isEmpty, "seed \(seed)")
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `the index of boxes finds every box that holds a point`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var index = BoxIndex()
        var boxes: [UInt32: GeoShape] = [:]
        for step in 0..<600 {
            let number = UInt32(random.below(120))
            if let shape = boxes.removeValue(forKey: number) {
                for box in shape.bounds! { index.remove(box, of: number) }
            } else {
                let shape = shape(&random)
                boxes[number] = shape
                for box in shape.bounds! { index.insert(box, of: number) }
            }
            guard step % 5 == 0 else { continue }
            let point = place(&random)
            var found: Set<UInt32> = []
            index.forEachCandidate(at: point) { found.insert($0) }
            let holding = Set(boxes.filter { $0.value.contains(point) }.keys)
            #expect(holding.isSubset(of: found), "seed \(seed), step \(step), \(point)")
            #expect(found.isSubset(of: Set(boxes.keys)), "seed \(seed)")
            let other = random.oneIn(2) ? place(&random) : near(point, &random)
            var both: Set<UInt32> = []
            index.forEachCandidate(at: point, or: other) { both.insert($0) }
            index.forEachCandidate(at: other) { found.insert($0) }
            #expect(both == found, "seed \(seed), step \(step), \(point) or \(other)")
        }
        for (number, shape) in boxes { for box in shape.bounds! { index.remove(box, of: number) } }
        #expect(index.isEmpty, "seed \(seed)")
    }

    private func near(_ point: Coordinate, _ random: inout SplitMix64) -> Coordinate {
        Coordinate(
            latitude: max(-90, min(90, point.latitude + random.number(-0.01...0.01))),
            longitude: max(-180, min(180, point.longitude + random.number(-0.01...0.01))))
    }

    private func place(_ random: inout SplitMix64) -> Coordinate {
        let latitudes = [90.0, -90, 89.9999, -89.9999, 0, 45, 60]
        let longitudes = [180.0, -180, 179.9999, -179.9999, 0, 90]
        return random.oneIn(2)
            ? Coordinate(latitude: random.pick(latitudes), longitude: random.pick(longitudes))
            : Coordinate(
                latitude: random.number(-90...90), longitude: random.number(-180...180))
    }

    private func shape(_ random: inout SplitMix64) -> GeoShape {
        let center = place(&random)
        switch random.below(4) {
        case 0:
            let other = place(&random)
            return .box(
                GeoBox(
                    south: min(center.latitude, other.latitude), west: center.longitude,
                    north: max(center.latitude, other.latitude), east: other.longitude))
        case 1:
            let line = (0..<2 + random.below(50)).map { _ in
                Coordinate(
                    latitude: min(90, max(-90, center.latitude + random.number(-1...1))),
                    longitude: min(180, max(-180, center.longitude + random.number(-1...1))))
            }
            guard let line = try? GeoLine(line) else { fallthrough }
            return .corridor(GeoCorridor(line, widthMeters: random.pick([1, 500, 100_000])))
        default:
            return .circle(
                GeoCircle(
                    center,
                    radiusMeters: random.pick([0.5, 200, 30_000, 2_000_000, 9_000_000, 20_000_000]),
                    model: random.pick([.sphere, .wgs84])))
        }
    }
}
