import EmbeddedBackend
import Logging
import Objects
import TestSupport
import Testing

/// The seeds every generated test runs with, and behind them those that once failed: append, with
/// the date and the fault.
enum ContractSeeds {
    static let range: [UInt64] = Array(1...24)
    static let kept: [UInt64] = []
    static var all: [UInt64] { range + kept }
}

@Suite struct EmbeddedContractTests {
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test(arguments: ContractSeeds.all)
    func `any history, with a restart in its middle, answers as the oracle does`(
        seed: UInt64
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let clock = TestClock()
            var limits = Limits()
            // Every third run reads each document from the store.
            if seed % 3 == 0 { limits.documentCacheBytes = 0 }
            var run = ContractRun(seed: seed, clock: clock)
            for _ in 0..<2 {
                let backend = try EmbeddedBackend(
                    path: path, limits: limits, logger: Self.logger, now: { clock.now })
                defer { try? backend.close() }
                let face = DirectFace(backend: backend, limits: limits)
                try await run.check(queries: 2, on: face)
                _ = try await run.putMany(30, on: face)
                for _ in 0..<3 {
                    try await run.write(steps: 12, on: face)
                    try await run.check(queries: 12, on: face)
                }
                try backend.close()
            }
            let report = try StoreCheck.run(path: path)
            #expect(report.problems == [], "seed \(seed)")
            #expect(report.objects == run.bucket.objects.count, "seed \(seed)")
        }
    }
}
