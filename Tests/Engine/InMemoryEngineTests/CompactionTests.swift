import BackendContract
import Dispatch
import Geodesy
import Objects
import PersistentStructures
import TestSupport
import Testing

@testable import InMemoryEngine

@Suite struct CompactionTests {
    /// A bucket as a table, and the engine that is written alike.
    private struct Run {
        let engine: Engine
        let ready = DispatchSemaphore(value: 0)
        var objects: [ChangeNumber: (id: ObjectID, change: ChangeNumber, position: Coordinate?)] =
            [:]
        var change: ChangeNumber = 0
        var random: SplitMix64

        init(seed: UInt64, tuning: Engine.Tuning = Engine.Tuning()) {
            random = SplitMix64(seed: seed)
            let ready = ready
            engine = makeEngine(tuning) { ready.signal() }
        }

        var state: BucketState { engine.snapshot.bucket(shops) ?? BucketState() }

        var isSparse: Bool { state.isSparse(engine.tuning) }

        mutating func create(_ count: Int) {
            for _ in 0..<count {
                change += 1
                write(creation: change, id: uuid(Int(change)))
            }
        }

        mutating func write(creation: ChangeNumber, id: ObjectID) {
            let at = random.oneIn(10) ? nil : position(&random)
            objects[creation] = (id, change, at)
            engine.apply(
                [upsert(shops, id, creation: creation, change: change, at: at)], upTo: change)
        }

        mutating func delete(_ count: Int) {
            let gone = objects.keys.sorted().shuffled(using: &random).prefix(count)
            change += 1
            for creation in gone { objects[creation] = nil }
            engine.apply(
                gone.map { .delete(bucket: shops, creations: [$0], changes: [$0]) }, upTo: change)
        }

        mutating func writeAnything(_ count: Int) {
            for _ in 0..<count {
                switch random.below(4) {
                case 0: create(1)
                case 1: delete(1)
                default:
                    let all = objects.keys.sorted()
                    guard !all.isEmpty else { continue }
                    let creation = random.pick(all)
                    change += 1
                    write(creation: creation, id: objects[creation]!.id)
                }
            }
        }

        /// Everything the state holds is what the table holds.
        func check(_ comment: Comment) {
            let state = state
            #expect(engine.violations() == [], comment)
            #expect(state.count == objects.count, comment)
            for (creation, object) in objects {
                guard let slot = state.slot(created: creation) else {
                    Issue.record("\(comment): no slot for \(creation)")
                    continue
                }
                #expect(state.slot(of: object.id) == slot, comment)
                #expect(state.records[Int(slot)].change == object.change, comment)
                #expect(
                    state.fields[location]?.position(of: slot).points.first == object.position,
                    comment)
            }
            for last in stride(from: 0, through: change, by: max(1, Int(change) / 20)) {
                #expect(
                    state.slots(changedAfter: last).map { state.records[Int($0)].creation }
                        == objects.filter { $0.value.change > last }.keys.sorted(),
                    "\(comment), after \(last)")
            }
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `what is written during a compaction is there after it`(seed: UInt64) {
        var run = Run(seed: seed)
        run.create(1_000)
        run.delete(400)
        #expect(run.state.slotCount == 1_000, "the writer does not renumber")
        // More than the writer does again by itself, some of it before, some after it is ready.
        run.writeAnything(200)
        run.ready.wait()
        run.writeAnything(50)
        run.check("seed \(seed), before")
        run.engine.installBackgroundWork()
        #expect(run.state.slotCount < 1_000, "seed \(seed)")
        run.check("seed \(seed), after")
        run.writeAnything(300)
        run.check("seed \(seed), later")
    }

    @Test func `holes never stay more than a quarter for long, and few holes stay`() {
        var run = Run(seed: 4)
        run.create(60)
        run.delete(50)
        #expect(run.state.slotCount == 60 && !run.isSparse)
        for round in 0..<40 {
            run.create(100)
            run.delete(95)
            if run.isSparse {
                run.ready.wait()
                run.engine.installBackgroundWork()
            }
            #expect(!run.isSparse, "round \(round)")
            #expect(run.state.slotCount <= run.objects.count * 4 / 3 + 64, "round \(round)")
        }
        run.check("at the end")
    }

    @Test func `how many holes are too many can be said`() {
        var tuning = Engine.Tuning()
        (tuning.holes, tuning.slotsPerHole) = (5, 10)
        var run = Run(seed: 9, tuning: tuning)
        run.create(20)
        run.delete(4)
        #expect(!run.isSparse, "too few")
        run.create(30)
        run.delete(1)
        #expect(!run.isSparse, "a tenth")
        run.delete(1)
        #expect(run.isSparse)
        run.ready.wait()
        run.engine.installBackgroundWork()
        #expect(run.state.slotCount == 44)
        run.check("renumbered")
    }

    @Test func `a bucket deleted during its compaction stays deleted, its successor is its own`() {
        var run = Run(seed: 5)
        run.create(1_000)
        run.delete(900)
        run.change += 1
        run.engine.apply([.deleteBucket(shops)], upTo: run.change)
        run.objects = [:]
        run.engine.installBackgroundWork()
        #expect(run.engine.snapshot.bucket(shops) == nil)
        run.create(300)
        run.delete(200)
        // The first compaction may have ended before it was of no use.
        while run.state.slotCount == 300 {
            run.ready.wait()
            run.engine.installBackgroundWork()
        }
        run.check("the next snapshot")
    }

    @Test func `a bucket whose objects are all deleted holds nothing`() {
        var run = Run(seed: 6)
        run.create(500)
        run.delete(500)
        #expect(run.state.slotCount == 0 && run.state.count == 0)
        run.create(10)
        run.check("begun again")
    }

    @Test func `a reader's state is not touched by a compaction`() {
        var run = Run(seed: 7)
        run.create(500)
        run.delete(100)
        let held = run.state
        let ids = (0..<500).map { String(decoding: held.id(of: Slot($0)), as: UTF8.self) }
        run.delete(200)
        run.ready.wait()
        run.engine.installBackgroundWork()
        run.writeAnything(500)
        #expect(held.slotCount == 500 && held.count == 400 && held.violations() == [])
        #expect(ids == (1...500).map { uuid($0).text })
    }
}
