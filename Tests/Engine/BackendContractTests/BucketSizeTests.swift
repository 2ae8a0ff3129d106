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

    /// What is no number of objects in a bucket, and one that would take too many: other suites lower
    /// it.
    private static let others: Set = ["slotsPerHole", "bytesForOwnGroup", "documentsForWaiting"]

    @Test func `There is a size on either side of every threshold`() {
        let thresholds = Mirror(reflecting: Self.tuning).children.compactMap { name, value in
            (value as? Int).flatMap { Self.others.contains(name ?? "") ? nil : (name ?? "", $0) }
        }
        #expect(thresholds.count >= 11)
        for (name, threshold) in thresholds {
            #expect(Self.sizes.contains { $0 < threshold }, "\(name)")
            #expect(Self.sizes.contains { $0 > threshold && $0 < 2 * threshold + 8 }, "\(name)")
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
                    if size >= Self.tuning.smallestBucket {
                        #expect(try await Self.getsColumn(run.bucketName, on: client))
                    }
                    try await run.deleteMost(on: client)
                    try await run.check(queries: 2, on: client)
                }
            }
            try run.checkStore(path, of: kind)
        }
    }

    /// Whether a bucket has a column of a field after that was asked for.
    private static func getsColumn(_ bucket: String, on client: DirectClient) async throws -> Bool {
        let clause = #"{"type":"eq","field":"b","value":true}"#
        let params = #"{"bucket":"\#(bucket)","bucketQuery":{"clause":\#(clause)}}"#
        try await client.value("bucket.count", params)
        client.backend.settle()
        let plan = try await client.value("bucket.explain", params)
        return try #require(plan["wouldHelp"]?.array).isEmpty
    }
}
