import Foundation
import TestSupport
import Testing

/// The seeds of the combined runs. A seed is what is written and asked, and under which budgets; what
/// meets what is up to the machine, so a fault that a seed found may take it some runs to find again.
enum CombinedSeeds {
    /// Seeds that found something: append, with the date and the fault.
    static let kept: [UInt64] = [
        2,  // 2026-11-23: a start left a connection at the state that it had read
        8,  // 2026-11-23: an order of slots that had been renumbered was installed
        10,  // 2026-11-23: readers and the writer appended to one palette
    ]
    /// Seeds of runs that go on until everything has been seen that should be.
    static let others: Range<UInt64> = 20..<50

    /// How long and from which seed on `scripts/combine.sh` runs.
    static let minutes = ProcessInfo.processInfo.environment["GEOBUCKET_COMBINED_MINUTES"]
        .flatMap { Double($0) }
    static let first =
        ProcessInfo.processInfo.environment["GEOBUCKET_COMBINED_SEED"]
        .flatMap { UInt64($0) } ?? 1
}

/// Everything together against a model: expiry, columns and orders that are made and given up,
/// renumberings, merges, bulk deletions, buckets deleted and made again, restarts, and many readers.
@Suite(.serialized) struct CombinedTests {
    @Test(
        .disabled(if: CombinedSeeds.minutes != nil, "ever new seeds were asked for"),
        arguments: BackendKind.all)
    func `whatever happens at once, every answer is one that was right while it was asked for`(
        on kind: BackendKind
    )
        async throws
    {
        try kind.require()
        var missing: Set = [
            "lookup", "ordered", "circle", "box", "ids", "scan", "checks with columns",
            "aggregations",
        ]
        for seed in CombinedSeeds.kept {
            missing.subtract(try await Self.run(seed, on: kind).names)
        }
        for seed in CombinedSeeds.others where !missing.isEmpty {
            missing.subtract(try await Self.run(seed, on: kind).names)
        }
        #expect(missing == [])
    }

    @Test(
        .enabled(if: CombinedSeeds.minutes != nil, "scripts/combine.sh runs it"),
        arguments: BackendKind.all)
    func `the same with ever new seeds, for as long as it is told`(on kind: BackendKind)
        async throws
    {
        try kind.require()
        let end = ContinuousClock.now + .seconds(60 * (CombinedSeeds.minutes ?? 0))
        var seed = CombinedSeeds.first
        repeat {
            try await Self.run(seed, on: kind)
            seed += 1
        } while ContinuousClock.now < end
    }

    @discardableResult
    private static func run(_ seed: UInt64, on kind: BackendKind) async throws -> CombinedTally {
        // Said first: a run that traps ends the process.
        print("combined run, seed \(seed)")
        fflush(nil)
        let run = CombinedRun(seed: seed, on: kind)
        let start = ContinuousClock.now
        do {
            try await run.run()
        } catch {
            Issue.record(
                "\(error), after \(ContinuousClock.now - start), \(run.log.all(from: .warning))")
        }
        print("combined run, seed \(seed): \(run.tally), \(ContinuousClock.now - start)")
        return run.tally
    }
}
