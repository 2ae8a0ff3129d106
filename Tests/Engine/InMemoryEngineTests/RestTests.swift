import BackendContract
import Dispatch
import Runtime
import TestSupport
import Testing

@testable import InMemoryEngine
@testable import SpatialIndex

@Suite struct RestTests {
    /// Applies the background work that is announced within some seconds; false if none is.
    private func install(_ engine: Engine, _ ready: DispatchSemaphore) -> Bool {
        guard ready.wait(timeout: .now() + 10) == .success else { return false }
        engine.installBackgroundWork()
        return true
    }

    @Test func `an index that is not written any more becomes one tree`() {
        let ready = DispatchSemaphore(value: 0)
        let time = TestClock(0)
        let clock = ServiceClock(nanoseconds: { time.now }, milliseconds: { 0 })
        let engine = makeEngine(clock: clock) { ready.signal() }
        var random = SplitMix64(seed: 1)
        func tiers() -> Int { engine.snapshot.bucket(shops)!.fields[location]!.tiers.count }
        let rest = Engine.Tuning().rest
        let objects: ChangeNumber = 2_600
        for change in 1...objects {
            engine.apply(
                [
                    upsert(
                        shops, uuid(Int(change)), creation: change, change: change,
                        at: position(&random))
                ], upTo: change)
        }
        let before = tiers()
        #expect(before > 1)

        time.advance(rest.nanoseconds - 1)
        engine.mergeAtRest()
        let isEarly = ready.wait(timeout: .now() + 0.2) == .success
        #expect(!isEarly && tiers() == before)

        // A write or two is no unrest, which would have the rest begin now.
        let last = objects + 1
        engine.apply(
            [upsert(shops, uuid(1), creation: 1, change: last, at: position(&random))], upTo: last)
        time.advance(1)
        engine.mergeAtRest()
        let isInstalled = install(engine, ready)
        #expect(isInstalled && tiers() == 1)
        #expect(engine.snapshot.bucket(shops)!.fields[location]!.violations() == [])

        // What is in order is left alone.
        time.advance(rest.nanoseconds * 3_600)
        engine.mergeAtRest()
        let again = ready.wait(timeout: .now() + 0.2) == .success
        #expect(!again)
    }
}
