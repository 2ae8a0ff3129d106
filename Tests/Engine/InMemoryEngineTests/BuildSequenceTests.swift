import Dispatch
import Objects
import QueryLanguage
import Runtime
import TestSupport
import Testing

@testable import InMemoryEngine

/// Columns and orders that are wanted, built, published, dropped and deleted in every order: what
/// is wanted afterwards is built.
@Suite struct BuildSequenceTests {
    enum Step: CaseIterable {
        case wantColumn, wantOrder
        /// The writer puts in place what is finished, and starts what is wanted.
        case writersTurn
        /// The threads of the jobs do what they have to do.
        case jobsRun
        case deleteBucket, deleteMost, evict
        /// Passes over the documents fail, or succeed again.
        case fail
    }

    @Test(arguments: [(false, false), (true, false), (true, true)])
    func `after every sequence of four steps, what is wanted is built`(
        hasColumn: Bool, hasOrder: Bool
    ) throws {
        var sequences: [[Step]] = [[]]
        for _ in 0..<4 {
            sequences = sequences.flatMap { some in Step.allCases.map { some + [$0] } }
        }
        for steps in sequences {
            try check(steps, "\(steps)", hasColumn: hasColumn, hasOrder: hasOrder)
        }
    }

    @Test(arguments: Seeds.first(4))
    func `after long sequences too`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for number in 0..<100 {
            let steps = (0..<40).map { _ in random.pick(Step.allCases) }
            try check(steps, "seed \(seed), \(number)", hasColumn: false, hasOrder: false)
        }
    }

    private func check(
        _ steps: [Step], _ context: String, hasColumn: Bool, hasOrder: Bool
    ) throws {
        let bucket = try HeldBucket(hasColumn: hasColumn, hasOrder: hasOrder)
        for step in steps { try bucket.take(step) }
        bucket.settle()
        try bucket.take(.wantColumn)
        bucket.settle()
        #expect(bucket.table.columns == [kind], "\(context)")
        try bucket.take(.wantOrder)
        bucket.settle()
        #expect(bucket.hasOrder, "\(context)")
        #expect(bucket.table.engine.violations() == [], "\(context)")
    }
}

/// A bucket whose background jobs run when a test says so.
private final class HeldBucket {
    let table = EngineTable(tune: { tuning in
        tuning.refusal = .zero
        tuning.holes = 1
        tuning.objectsTakenOn = 1
    })
    private let threads: [WorkThread]
    private var random = SplitMix64(seed: 1)
    private var gate = DispatchSemaphore(value: 0)

    init(hasColumn: Bool, hasOrder: Bool) throws {
        threads = table.engine.columnThreads + [table.engine.compactionThread]
        fill()
        if hasColumn { try take(.wantColumn) }
        table.settle()
        if hasOrder { try take(.wantOrder) }
        table.settle()
        hold()
    }

    var hasOrder: Bool {
        table.engine.snapshot.bucket(shops)?.columns.entries[kind]?.index != nil
    }

    func take(_ step: BuildSequenceTests.Step) throws {
        switch step {
        case .wantColumn:
            _ = try table.engine.count(.eq(kind, .number(.integer(1))), in: shops)
        case .wantOrder: _ = try table.page(orderedBy: kind)
        case .writersTurn: table.engine.installBackgroundWork()
        case .jobsRun:
            release()
            hold()
        case .deleteBucket:
            table.deleteBucket()
            fill()
        case .deleteMost:
            table.deleteMost(&random)
            fill()
        case .evict:
            let next = table.engine.nextSnapshot()
            next.evictColumns(table.engine.columnRequests, over: 0)
            table.engine.publish(next, upTo: table.change)
        case .fail: table.documents.state.withLock { $0.isFailing.toggle() }
        }
    }

    /// Lets everything end, with passes that succeed.
    func settle() {
        table.documents.state.withLock { $0.isFailing = false }
        release()
        table.settle()
    }

    private func fill() { table.create(in: shops, 12, &random) }

    private func hold() {
        let gate = DispatchSemaphore(value: 0)
        self.gate = gate
        for thread in threads { thread.async { gate.wait() } }
    }

    /// Has the threads do what they have; those that are not held do nothing.
    private func release() {
        for _ in threads { gate.signal() }
        for thread in threads { thread.drain() }
    }
}
