import BackendContract
import Objects
import TestSupport
import Testing

@testable import InMemoryEngine

/// Documents that are kept for readers of earlier states.
@Suite struct SupersededTests {
    private static func document(_ change: ChangeNumber) -> [UInt8] {
        Array(#"{"change":\#(change),"fill":"\#(String(repeating: "x", count: 1_000))"}"#.utf8)
    }

    /// Replaces the object `steps` times, once in each transaction.
    private static func replace(
        _ engine: Engine, from change: ChangeNumber, steps: Int
    ) -> ChangeNumber {
        var change = change
        for _ in 0..<steps {
            engine.supersede(document(change), change: change)
            change += 1
            engine.apply(
                [upsert(shops, uuid(1), creation: 1, change: change, at: nil)], upTo: change)
        }
        return change
    }

    private static func begun(_ limits: Limits = Limits()) -> Engine {
        var limits = limits
        limits.documentCacheBytes = 0
        let engine = makeEngine(limits: limits)
        engine.apply([upsert(shops, uuid(1), creation: 1, change: 1, at: nil)], upTo: 1)
        return engine
    }

    @Test func `a transaction that fails leaves the count as it was`() {
        let engine = Self.begun()
        func kept() -> Int { engine.statistics().memory.supersededDocuments }
        let reader = engine.snapshot
        _ = Self.replace(engine, from: 1, steps: 1)
        let before = kept()
        #expect(before > 1_000)
        for change in 2..<5 as Range<ChangeNumber> {
            engine.supersede(Self.document(change), change: change)
        }
        #expect(kept() > before + 3_000)
        engine.supersedeNothing()
        #expect(kept() == before)
        // The next one succeeds, and what it supersedes counts once.
        engine.supersede(Self.document(2), change: 2)
        engine.apply([upsert(shops, uuid(1), creation: 1, change: 3, at: nil)], upTo: 3)
        #expect(kept() > before && kept() < before * 5 / 2)
        withExtendedLifetime(reader) {}
    }

    @Test func `beyond the limit the oldest readers end and say why, later ones go on`() throws {
        var limits = Limits()
        limits.supersededBytes = 5_000
        let engine = Self.begun(limits)
        func kept() -> Int { engine.statistics().memory.supersededDocuments }
        let oldest = engine.snapshot
        var change = Self.replace(engine, from: 1, steps: 3)
        let later = engine.snapshot
        let laterChange = change
        #expect(try engine.document(creation: 1, change: 1, in: oldest) == Self.document(1))
        change = Self.replace(engine, from: change, steps: 3)
        #expect(
            try engine.document(creation: 1, change: laterChange, in: later)
                == Self.document(laterChange))
        let refusal = #expect(throws: ServiceFailure.self) {
            try engine.document(creation: 1, change: 1, in: oldest)
        }
        #expect(refusal?.reason == .queryTimeout)
        #expect(refusal?.message.contains("replaced or deleted") == true)
        // What it asks for that has not been dropped it still gets.
        #expect(
            try engine.document(creation: 1, change: change - 1, in: oldest)
                == Self.document(change - 1))
        for _ in 0..<100 {
            change = Self.replace(engine, from: change, steps: 1)
            #expect(kept() <= 5_000 + 1_200)
        }
        withExtendedLifetime((oldest, later)) {}
    }

    @Test func `readers that keep nothing are not in the way of others`() {
        var limits = Limits()
        limits.supersededBytes = 3_000
        let engine = Self.begun(limits)
        var change: ChangeNumber = 1
        for _ in 0..<1_000 { change = Self.replace(engine, from: change, steps: 1) }
        #expect(engine.statistics().memory.supersededDocuments <= 1_200)
    }
}
