import BackendContract
import JSONText
import Objects
import TestSupport
import Testing

/// The seeds of the generated histories, and behind them those that once failed: append, with the date
/// and the fault.
private enum HistorySeeds {
    static let range: [UInt64] = Array(1...60)
    static let kept: [UInt64] = []
    static var all: [UInt64] { range + kept }
}

/// Generated histories of writes against a model that says in the plainest way what each means.
@Suite struct HistoryTests {
    private static let steps = 300

    @Test(arguments: HistorySeeds.all)
    func `any history answers and leaves what the model says`(seed: UInt64) throws {
        var history = WriteHistory(seed: seed)
        var model = WriteModel(limits: WriteHistory.limits)
        let state = DictionaryState()
        for number in 0..<Self.steps {
            let step = try history.next()
            let context: Comment = "seed \(seed), step \(number): \(step.write)"
            state.now = step.now
            let ids = step.newIDs
            let evaluator = WriteEvaluator(
                on: state, at: step.now, limits: WriteHistory.limits, parser: JSONParser()
            ) { _ in ids.next() }
            if step.removesExpired {
                let before = state.objectCount
                let last = try evaluator.removeExpired(atMost: 2)
                let removed = before - state.objectCount
                #expect((last != nil) == (removed == 2), context)
                #expect(removed == model.removeExpired(atMost: 2, at: step.now), context)
            }
            let before = model.contents(at: step.now)
            let expected = model.outcome(of: step)
            let outcome = ModelOutcome(try evaluator.perform(step.write, key: step.key))
            try #require(outcome == expected, context)
            let left = try state.contents(at: step.now)
            try #require(left == model.contents(at: step.now), context)
            if case .refused = outcome { #expect(left == before, context) }
        }
    }

    @Test func `the histories have every outcome in them`() throws {
        var counts: [String: Int] = [:]
        for seed in HistorySeeds.range.prefix(20) {
            var history = WriteHistory(seed: seed)
            var model = WriteModel(limits: WriteHistory.limits)
            for _ in 0..<Self.steps {
                counts[model.outcome(of: try history.next()).kind, default: 0] += 1
            }
            counts["repeated", default: 0] += model.repeats
        }
        for kind in [
            "stored", "kept", "deleted", "repeated", "OBJECT_NOT_FOUND", "BUCKET_NOT_FOUND bucket",
            "OBJECT_ALREADY_EXISTS id", "OBJECT_VERSION_IS_STALE ifVersion",
            "OBJECT_TOO_LARGE object", "INVALID_INPUT_DATA object.p.lat",
            "INVALID_INPUT_DATA object.p", "INVALID_INPUT_DATA objects[].p",
            "INVALID_INPUT_DATA requestKey", "TOO_MANY_REQUESTS requestKey",
        ] {
            #expect(counts[kind, default: 0] >= 5, "\(kind): \(counts)")
        }
    }
}

extension ModelOutcome {
    init(_ result: Result<WriteAnswer, ServiceFailure>) {
        switch result {
        case .success(.stored(let objects)):
            self = .stored(
                objects.map {
                    WriteModel.answer($0.metadata) + ($0.isWritten ? "" : " kept")
                })
        case .success(.deleted(let count)): self = .deleted(count)
        case .failure(let failure):
            let reason = failure.reason.rawValue
            self = .refused(failure.path.map { "\(reason) \($0)" } ?? reason)
        }
    }
}

extension DictionaryState {
    /// As `WriteModel.contents`.
    fileprivate func contents(at now: Int64) throws -> [String] {
        buckets.flatMap { bucket, objects in
            ["\(bucket.text)"]
                + objects.filter { $0.metadata.expires.map { $0 > now } ?? true }.map {
                    WriteModel.describe($0.metadata, $0.document.text, in: bucket)
                }
        }.sorted()
    }
}
