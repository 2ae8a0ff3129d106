import Objects
import TestSupport
import Testing

/// Costly reads, more than there are threads for.
@Suite(.timeLimit(.minutes(20))) struct OverloadTests {
    private static let count =
        #"{"jsonrpc":"2.0","id":2,"method":"bucket.count","params":{"bucket":"shops"}}"# + "\n"

    /// How a third costly read ends when it has waited for so long while two had all the threads.
    private static func outcome(waiting: Duration, _ limits: Limits) async throws -> String {
        let backend = EndlessBackend()
        let outcome = TestOutcome()
        try await Servers.serve(backend, limits: limits) { port in
            try await RawConnection.during(port: port) { first in
                try await RawConnection.during(port: port) { second in
                    try await RawConnection.during(port: port) { third in
                        try first.send(Self.count)
                        try second.send(Self.count)
                        try await wait { backend.running.load(ordering: .relaxed) == 2 }
                        try third.send(Self.count)
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
