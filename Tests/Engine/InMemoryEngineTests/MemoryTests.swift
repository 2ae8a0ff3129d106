import BackendContract
import Objects
import TestSupport
import Testing

@testable import InMemoryEngine

/// "At most 128 bytes a resident object with one geo field and three columns, besides the ids' own
/// bytes": 10 bytes of a slot's three columns (8, 1 and 1) are left free.
@Suite struct MemoryTests {
    private static let idBytes = 36
    private static let mostBytes = 128 - 10

    @Test func `a loaded object takes at most 88 bytes besides its id's`() throws {
        var random = SplitMix64(seed: 1)
        let engine = makeEngine()
        let objects = 100_000
        try engine.load(objects: objects, buckets: [shops], &random)
        let bytes = engine.ownIndexBytes / objects - Self.idBytes
        #expect(bytes <= 88, "\(bytes) bytes")
        #expect(engine.violations() == [])
    }

    @Test func `however many objects were written, one takes at most 118 bytes besides its id's`() {
        var random = SplitMix64(seed: 2)
        let engine = makeEngine()
        var most = 0
        for group in 0..<600 {
            let changes = (1...64).map { number in
                let change = ChangeNumber(group * 64 + number)
                return upsert(
                    shops, uuid(Int(change)), creation: change, change: change,
                    at: position(&random))
            }
            let objects = (group + 1) * 64
            engine.apply(changes, upTo: ChangeNumber(objects))
            engine.installBackgroundWork()
            guard objects > 4_000 else { continue }
            most = max(most, engine.ownIndexBytes / objects - Self.idBytes)
        }
        #expect(most <= Self.mostBytes, "\(most) bytes")
        #expect(engine.violations() == [])
    }

    @Test func `a fleet on the move takes what it took, within a half`() throws {
        var random = SplitMix64(seed: 3)
        let engine = makeEngine()
        let (objects, moves) = (20_000, 200_000)
        try engine.load(objects: objects, buckets: [shops], &random)
        let parked = engine.ownIndexBytes
        var change = ChangeNumber(objects)
        for _ in 0..<moves / 64 {
            let group = (0..<64).map { _ in
                change += 1
                let number = 1 + random.below(objects)
                return upsert(
                    shops, uuid(number), creation: ChangeNumber(number), change: change,
                    at: position(&random))
            }
            engine.apply(group, upTo: change)
            let bytes = engine.ownIndexBytes
            #expect(bytes <= parked * 3 / 2, "change \(change): \(bytes) bytes, parked \(parked)")
        }
        #expect(engine.violations() == [])
        #expect(engine.statistics().objects == objects)
    }

    @Test func `a bucket of ten objects takes some two kibibytes`() throws {
        var random = SplitMix64(seed: 4)
        let names = (0..<5_000).map { BucketName(trusted: "users/somebody-\($0)/notes") }
        let loaded = makeEngine()
        try loaded.load(objects: 50_000, buckets: names, &random)
        let written = makeEngine()
        for number in 1...50_000 {
            let change = ChangeNumber(number)
            written.apply(
                [
                    upsert(
                        names[number % names.count], uuid(number), creation: change,
                        change: change, at: position(&random))
                ], upTo: change)
        }
        for (engine, most) in [(loaded, 1_900), (written, 2_250)] {
            let bytes = engine.ownIndexBytes / names.count
            #expect(bytes <= most, "\(bytes) bytes")
            #expect(engine.violations() == [])
        }
    }

    @Test func `the totals are those of the buckets, after any history`() {
        var random = SplitMix64(seed: 5)
        let engine = makeEngine()
        let names = (0..<4).map { BucketName(trusted: "bucket-\($0)") }
        var alive: [ChangeNumber: BucketName] = [:]
        for change in ChangeNumber(1)...4_000 {
            switch random.below(200) {
            case 0:
                let name = random.pick(names)
                engine.apply([.deleteBucket(name)], upTo: change)
                alive = alive.filter { $0.value != name }
            case 1..<80:
                guard let gone = alive.randomElement(using: &random) else { continue }
                alive[gone.key] = nil
                engine.apply(
                    [.delete(bucket: gone.value, creations: [gone.key], changes: [change])],
                    upTo: change)
            default:
                let name = random.pick(names)
                let at = random.oneIn(3) ? nil : position(&random)
                engine.apply(
                    [upsert(name, uuid(Int(change)), creation: change, change: change, at: at)],
                    upTo: change)
                alive[change] = name
            }
            guard change % 50 == 0 else { continue }
            var totals = Snapshot.Totals()
            for (name, bucketView) in engine.snapshot.buckets {
                totals.add(bucketView.state, named: name)
            }
            let statistics = engine.statistics()
            #expect(statistics.objects == alive.count && totals.objects == alive.count)
            #expect(statistics.points == totals.points)
            #expect(engine.ownIndexBytes == totals.memory.indexBytes)
        }
        for name in names { engine.apply([.deleteBucket(name)], upTo: 4_001) }
        #expect(engine.ownIndexBytes == 0)
    }

    @Test func `superseded documents are counted until nobody can ask for them`() {
        let engine = makeEngine()
        engine.apply(
            [upsert(shops, uuid(1), creation: 1, change: 1, at: nil)], upTo: 1)
        func kept() -> Int { engine.statistics().memory.supersededDocuments }
        do {
            let reader = engine.snapshot
            engine.supersede([UInt8](repeating: 32, count: 1_000), change: 1)
            engine.supersede([UInt8](repeating: 32, count: 1_000), change: 1)
            engine.apply(
                [upsert(shops, uuid(1), creation: 1, change: 2, at: nil)], upTo: 2)
            #expect((1_000..<1_200).contains(kept()))
            withExtendedLifetime(reader) {}
        }
        #expect(kept() == 0)
    }
}

extension Engine {
    /// The statistics also have the grids of other engines, which other tests use at the same time.
    fileprivate var ownIndexBytes: Int { snapshot.totals.memory.indexBytes }
}
