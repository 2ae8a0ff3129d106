import Glibc
import Objects
import TestSupport
import Testing

/// On which threads a read is prepared and run: what it costs decides.
@Suite(.timeLimit(.minutes(20))) struct ReadThreadTests {
    private static func count(in bucket: String, clauses: Int = 1) -> String {
        let some = Array(repeating: #"{"type":"eq","field":"n","value":1}"#, count: clauses)
        let clause = #"{"type":"or","clauses":[\#(some.joined(separator: ","))]}"#
        return #"{"jsonrpc":"2.0","id":1,"method":"bucket.count","params":{"bucket":"\#(bucket)","#
            + #""bucketQuery":{"clause":\#(clause)}}}"# + "\n"
    }

    private static let answer = #"{"jsonrpc":"2.0","id":1,"result":{"count":7}}"#

    @Test func `Each read is prepared once, and run there if it is cheap, else on a worker thread`()
        async throws
    {
        var limits = Limits()
        limits.connectionThreads = 1
        let backend = WatchedBackend()
        try await Servers.serve(backend, limits: limits) { port in
            try RawConnection.with(port: port) { raw in
                func threads(of request: String) throws -> (prepared: [pthread_t], run: [pthread_t])
                {
                    try raw.send(request)
                    #expect(try raw.line() == Self.answer)
                    return backend.takeThreads()
                }
                let cheap = try threads(of: Self.count(in: "cheap"))
                let eventLoop = try #require(cheap.prepared.first)
                #expect(cheap == ([eventLoop], [eventLoop]))

                let costly = try threads(of: Self.count(in: "costly"))
                #expect(costly.prepared == [eventLoop])
                #expect(costly.run.count == 1 && costly.run != [eventLoop])

                // More values than an event loop plans with, whatever the plan costs.
                for bucket in ["cheap", "costly"] {
                    let long = try threads(of: Self.count(in: bucket, clauses: 300))
                    #expect(long.prepared.count == 1 && long.prepared != [eventLoop])
                    #expect(long.run == long.prepared)
                }
            }
        }
    }
}
