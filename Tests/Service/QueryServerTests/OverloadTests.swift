import Objects
import TestSupport
import Testing

/// Costly reads, more than there are threads for.
@Suite(.timeLimit(.minutes(20))) struct OverloadTests {
    private static let ping = #"{"jsonrpc":"2.0","id":1,"method":"server.ping"}"# + "\n"
    private static let count =
        #"{"jsonrpc":"2.0","id":2,"method":"bucket.count","params":{"bucket":"shops"}}"# + "\n"

    /// How a third costly read ends when it has waited for so long while two had all the threads.
    private static func outcome(waiting: Duration, _ limits: Limits) async throws -> String {
        let backend = EndlessBackend()
        let outcome = TestOutcome()
        try await Servers.serve(backend, limits: limits) { port in
            try await RawConnection.during(port: port) { first in
                // From other addresses: one never has all threads.
                try await RawConnection.during(port: port, from: "127.0.0.2") { second in
                    try await RawConnection.during(port: port, from: "127.0.0.3") { third in
                        try first.send(Self.count)
                        try second.send(Self.count)
                        try await wait { backend.running.load(ordering: .relaxed) == 2 }
                        // In one segment, so the answer to the first shows that both were read.
                        try third.send(Self.ping + Self.count)
                        #expect(try third.line()?.contains("pong") == true)
                        // How long it waits is told by the system's clock.
                        try await Task.sleep(for: waiting)
                        try first.resetOnClose()
                        first.close()
                        // Its thread takes up the third.
                        try await wait {
                            backend.running.load(ordering: .relaxed) == 3
                                || !third.isSilent(milliseconds: 0)
                        }
                        outcome.set(
                            backend.running.load(ordering: .relaxed) == 3
                                ? "begun" : try third.line() ?? "closed")
                        try second.resetOnClose()
                        try third.resetOnClose()
                    }
                }
            }
        }
        return outcome.text
    }

    @Test func `Who has begun costly reads on many connections leaves a thread to others`()
        async throws
    {
        var limits = Limits()
        limits.readThreads = 3
        let backend = EndlessBackend()
        try await Servers.serve(backend, limits: limits) { port in
            try await RawConnection.during(port: port, count: 8) { greedy in
                for client in greedy { try client.send(Self.count) }
                try await wait { backend.running.load(ordering: .relaxed) == 2 }
                try await RawConnection.during(port: port, from: "127.0.0.2") { other in
                    try other.send(Self.count)
                    try await wait { backend.running.load(ordering: .relaxed) == 3 }
                }
                for client in greedy { try client.resetOnClose() }
            }
        }
    }

    @Test(arguments: [2, 3, 4])
    func `At most queuedWrites writes wait, of all connections together`(
        _ writes: Int
    ) async throws {
        var limits = Limits()
        limits.queuedWrites = 3
        let backend = PausedBackend()
        let put =
            #"{"jsonrpc":"2.0","id":1,"method":"object.put","#
            + #""params":{"bucket":"shops","id":"o1","object":{}}}"# + "\n"
        try await Servers.serve(backend, limits: limits) { port in
            try await RawConnection.during(port: port) { first in
                try await RawConnection.during(port: port) { second in
                    try first.send(String(repeating: put, count: writes - 1))
                    try await wait { backend.pausedWrites == writes - 1 }
                    try second.send(put)
                    try await wait {
                        backend.pausedWrites == writes || !second.isSilent(milliseconds: 0)
                    }
                    #expect(backend.pausedWrites == min(writes, 3))
                    while backend.release() > 0 {}
                    for _ in 1..<writes { #expect(try first.line()?.contains("result") == true) }
                    let last = try #require(try second.line())
                    #expect(last.contains("TOO_MANY_REQUESTS") == (writes == 4), "\(last)")
                    #expect(last.contains("retryAfterMillis") == (writes == 4))
                }
            }
        }
    }

    @Test func `A read that has waited for longer than queueMilliseconds is refused, not begun`()
        async throws
    {
        var limits = Limits()
        limits.readThreads = 2
        // Longer than a slow machine takes to begin the first two.
        limits.queueMilliseconds = 1_000
        let refused = try await Self.outcome(waiting: .milliseconds(1_200), limits)
        #expect(refused.contains("TOO_MANY_REQUESTS") && refused.contains("retryAfterMillis"))
        limits.queueMilliseconds = 600_000
        #expect(try await Self.outcome(waiting: .milliseconds(50), limits) == "begun")
    }
}
