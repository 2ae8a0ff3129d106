import InMemoryEngine
import JSONText
import TestSupport
import Testing

/// The contract on buckets as large as they have to be for each of the engine's thresholds, with the
/// tuning that a service runs with.
@Suite struct BucketSizeTests {
    /// Above and below each number of objects that `Engine.Tuning` or a batch has: columns and orders
    /// (64), what a writer takes on (128), batches of slots (512), freezing and removal (1,000), documents
    /// read at once (1,024), deletions in place (2,000), orders that a query asks for (4,096).
    static let sizes = [63, 65, 130, 511, 513, 1_010, 1_030, 2_100, 4_200]

    private static var tuning: Engine.Tuning {
        var tuning = Engine.Tuning()
        tuning.briefSearch = .seconds(3_600)
        return tuning
    }

    @Test func `There is a size on either side of every threshold`() {
        let tuning = Self.tuning
        let thresholds = [
            tuning.smallestBucket, tuning.documentsForColumn, tuning.holes, tuning.objectsTakenOn,
            tuning.objectsForFreezing, tuning.removedAtOnce, tuning.documentsAtOnce,
            tuning.deletedAtOnce, tuning.deletedInPlace, tuning.candidatesForOrder,
        ]
        for threshold in thresholds {
            #expect(Self.sizes.contains { $0 < threshold }, "\(threshold)")
            #expect(
                Self.sizes.contains { $0 > threshold && $0 < 2 * threshold + 8 }, "\(threshold)")
        }
    }

    @Test(arguments: BackendKind.all, sizes)
    func `a bucket of any size answers as the oracle does`(on kind: BackendKind, size: Int)
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            var run = ContractRun(seed: UInt64(size), clock: TestClock(), ids: size)
            for _ in 0..<2 {
                try await withBackend(kind, path: path, clock: run.clock, tuning: Self.tuning) {
                    client in
                    _ = try await run.putMany(size, on: client)
                    try await run.check(queries: 4, on: client)
                    // Columns and orders that these queries have asked for.
                    client.backend.settle()
                    try await run.check(queries: 4, on: client)
                    try await run.checkCounts(on: client)
                    try await run.deleteMost(on: client)
                    try await run.check(queries: 2, on: client)
                }
            }
            try run.checkStore(path, of: kind)
        }
    }
}
