import BackendContract
import JSONText
import TestSupport
import Testing

/// Deletions and creations that make the engine renumber its slots, with queries and pages between
/// and during them: every answer is the oracle's.
@Suite struct CompactionContractTests {
    @Test(arguments: BackendKind.all, [1, 2] as [UInt64])
    func `answers and pages go on through compactions`(on kind: BackendKind, seed: UInt64)
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            var run = ContractRun(seed: seed, clock: TestClock(), ids: 600)
            try await withBackend(kind, path: path, clock: run.clock) { client in
                for round in 0..<4 {
                    _ = try await run.putMany(600, on: client)
                    let full = client.backend.statistics().memory.records
                    try await run.deleteMany(200, on: client)
                    try await run.deleteMany(150, on: client)
                    // The renumbering is under way or done.
                    try await run.checkWalkAmongWrites(on: client)
                    try await run.check(queries: 2, on: client)
                    try await waitUntil("round \(round): slots are renumbered") {
                        client.backend.statistics().memory.records < full * 3 / 4
                    }
                    try await run.checkWalkAmongWrites(on: client)
                    try await run.check(queries: 2, on: client)
                    try await run.checkObjects(on: client)
                }
            }
            try run.checkStore(path, of: kind)
        }
    }

    private func waitUntil(
        _ what: Comment, _ condition: () async throws -> Bool
    ) async throws {
        let isSo = try await waited(until: condition)
        #expect(isSo, what)
    }
}
