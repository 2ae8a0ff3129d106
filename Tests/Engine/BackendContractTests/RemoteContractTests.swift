import JSONText
import Objects
import TestSupport
import Testing

/// The same contract through TCP.
@Suite struct RemoteContractTests {
    @Test(arguments: BackendKind.all, Seeds.first(4) + ContractSeeds.kept)
    func `any history, with a restart in its middle, answers as the oracle does`(
        on kind: BackendKind,
        seed: UInt64
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            var run = ContractRun(seed: seed, clock: TestClock(), scope: "users/someone/")
            for _ in 0..<2 {
                let (before, clock) = (run, run.clock)
                run = try await TestService.with(on: kind, path: path, now: { clock.now }) {
                    service in
                    var run = before
                    let client = RemoteClient(connection: service.connection)
                    try await run.history(rounds: 2, on: client)
                    try await run.checkWalkAmongWrites(on: client)
                    return run
                }
            }
            try run.checkStore(path, of: kind)
        }
    }

    /// "unless the answer would pass the server's replyBytes: then the page ends early, with at
    /// least one object, and has a nextPaginationKey."
    @Test(arguments: BackendKind.all, [1, 2, 3, 4] as [UInt64])
    func `a page ends early rather than pass the limit of a reply`(
        on kind: BackendKind, seed: UInt64
    ) async throws {
        var limits = Limits()
        limits.replyBytes = 2_500
        try await TestService.with(on: kind, limits: limits) { [limits] service in
            var run = ContractRun(seed: seed, clock: TestClock())
            let client = RemoteClient(connection: service.connection)
            _ = try await run.putMany(45, on: client)
            for order in ["", #","orderBy":"s""#, #","orderBy":"n","descending":true"#] {
                var (key, ids, lines): (String?, [String], Int) = (nil, [], 0)
                repeat {
                    let member = key.map { #","paginationKey":"\#($0)""# } ?? ""
                    let line = try await service.line(
                        #"{"jsonrpc":"2.0","id":7,"method":"bucket.query","params":{"bucket":"#
                            + #""\#(run.bucketName)","bucketQuery":{"clause":{"type":"all"}"#
                            + order + "}" + member + "}}")
                    let result = try JSONValue(parsing: line)["result"]!
                    let page = try Page(Array(result.text.utf8))
                    #expect(
                        line.utf8.count <= limits.replyBytes || page.results.count == 1,
                        "seed \(seed): \(line.utf8.count) bytes, \(page.results.count) objects")
                    try #require(!page.results.isEmpty, "seed \(seed)")
                    (key, ids, lines) = (page.nextKey, ids + page.ids, lines + 1)
                } while key != nil
                #expect(ids.count == 45 && Set(ids).count == 45, "seed \(seed), \(order)")
                #expect(lines > 1, "seed \(seed)")
            }
        }
    }
}
