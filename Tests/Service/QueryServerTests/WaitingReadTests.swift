import Objects
import TestSupport
import Testing

/// Reads that wait for something that is being built hold no thread, no state and no place in a queue.
@Suite(.timeLimit(.minutes(20))) struct WaitingReadTests {
    private static func count(in bucket: String, clauses: Int = 1) -> String {
        let some = Array(repeating: #"{"type":"eq","field":"n","value":1}"#, count: clauses)
        let clause = #"{"type":"or","clauses":[\#(some.joined(separator: ","))]}"#
        return #"{"jsonrpc":"2.0","id":1,"method":"bucket.count","params":{"bucket":"\#(bucket)","#
            + #""bucketQuery":{"clause":\#(clause)}}}"# + "\n"
    }

    private static func post(_ request: String) -> String {
        "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "Connection: close\r\nContent-Length: \(request.utf8.count)\r\n\r\n\(request)"
    }

    private static let failure = ServiceFailure(
        .queryTimeout, "still being built", retryAfterMilliseconds: 7_000)

    /// Long requests are prepared on a worker thread.
    @Test(arguments: [1, 300])
    func `fifty wait for one thing with two threads, others are answered, then all fifty are`(
        clauses: Int
    ) async throws {
        var limits = Limits()
        limits.readThreads = 2
        // The wait for what is built does not count as one for a thread.
        limits.queueMilliseconds = 2_000
        let backend = BuildingBackend()
        try await Servers.serve(backend, limits: limits) { port in
            try await RawConnection.during(port: port, count: 50) { clients in
                for client in clients { try client.send(Self.count(in: "cold", clauses: clauses)) }
                try await wait { backend.waiting == 50 }
                try await wait { backend.prepared.load(ordering: .relaxed) == 0 }
                try await RawConnection.during(port: port) { other in
                    for _ in 0..<3 {
                        try other.send(Self.count(in: "warm"))
                        #expect(try other.line()?.contains(#""count":7"#) == true)
                    }
                }
                // How long they wait is told by the system's clock.
                try await Task.sleep(for: .milliseconds(2_100))
                #expect(backend.waiting == 50 && backend.run.load(ordering: .relaxed) == 0)
                backend.end()
                for client in clients {
                    let line = try client.line() ?? "closed"
                    #expect(line.contains(#""count":5"#), "\(line)")
                }
            }
        }
        #expect(backend.run.load(ordering: .relaxed) == 50)
    }

    @Test func `a wait in vain is told, with when to try again`() async throws {
        let backend = BuildingBackend()
        try await Servers.serve(backend) { port in
            try await RawConnection.during(port: port) { client in
                try client.send(Self.count(in: "cold"))
                try await wait { backend.waiting == 1 }
                backend.end(Self.failure)
                let line = try client.line() ?? "closed"
                #expect(line.contains("QUERY_TIMEOUT"), "\(line)")
                #expect(line.contains(#""retryAfterMillis":7000"#), "\(line)")
            }
        }
    }

    @Test func `the web port does not take a request that waits for an idle connection`()
        async throws
    {
        var limits = Limits()
        limits.httpIdleMilliseconds = 300
        let backend = BuildingBackend()
        try await Servers.serveWeb(backend, limits: limits) { port in
            try await RawConnection.during(port: port) { client in
                try client.send(Self.post(Self.count(in: "cold")))
                try await wait { backend.waiting == 1 }
                // How long it waits is told by the system's clock.
                try await Task.sleep(for: .milliseconds(900))
                backend.end()
                let answer = String(decoding: try client.remainingBytes(), as: UTF8.self)
                #expect(answer.contains(#""count":5"#), "\(answer)")
            }
        }
    }

    @Test(arguments: [false, true])
    func `nothing is left of a wait whose client is gone`(isWeb: Bool) async throws {
        let backend = BuildingBackend()
        let body: @Sendable (Int) async throws -> Void = { port in
            for resets in [false, true] {
                try await RawConnection.during(port: port) { client in
                    let request = Self.count(in: "cold")
                    try client.send(isWeb ? Self.post(request) : request)
                    try await wait { backend.waiting == 1 }
                    if resets || !isWeb { try client.resetOnClose() }
                }
                try await wait { backend.waiting == 0 }
            }
        }
        if isWeb {
            try await Servers.serveWeb(backend, body)
        } else {
            try await Servers.serve(backend, body)
        }
        #expect(backend.run.load(ordering: .relaxed) == 0)
        #expect(backend.prepared.load(ordering: .relaxed) == 0)
    }
}
