import Foundation
import TestSupport
import Testing

/// Work that nobody waits for any more is ended.
@Suite(.timeLimit(.minutes(20))) struct StoppedReadTests {
    private static let ping = #"{"jsonrpc":"2.0","id":1,"method":"server.ping"}"# + "\n"
    private static let count =
        #"{"jsonrpc":"2.0","id":2,"method":"bucket.count","params":{"bucket":"shops"}}"# + "\n"

    @Test func `a client that resets its connection ends its costly read`() async throws {
        let backend = EndlessBackend()
        try await Servers.serve(backend) { port in
            try RawConnection.with(port: port) { raw in
                try raw.send(Self.ping + Self.count)
                // The pong is left unread: so closing resets the connection.
                while raw.isSilent(milliseconds: 10) {}
                while backend.running.load(ordering: .relaxed) == 0 {}
            }
            try await wait { backend.stopped.load(ordering: .relaxed) == 1 }
        }
    }

    @Test(arguments: [
        "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(count.utf8.count)\r\n\r\n\(count)",
        "GET /ogc/collections/shops/items HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /api/apps/myapp/buckets/shops/query HTTP/1.1\r\nHost: localhost\r\n"
            + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
    ])
    func `a client that leaves the web port ends its costly read`(_ request: String) async throws {
        for resets in [false, true] {
            let backend = EndlessBackend()
            try await Servers.serveWeb(backend) { port in
                try await RawConnection.during(port: port) { raw in
                    try raw.send(request)
                    try await wait { backend.running.load(ordering: .relaxed) == 1 }
                    if resets { try raw.resetOnClose() }
                }
                try await wait { backend.stopped.load(ordering: .relaxed) == 1 }
            }
        }
    }

    @Test func `a client that has sent all it has to say gets the answer to a cheap read`()
        async throws
    {
        let backend = WatchedBackend()
        try await Servers.serveWeb(backend) { port in
            try await onBlockingThreads {
                try RawConnection.with(port: port) { raw in
                    try raw.send(
                        "POST /rpc HTTP/1.1\r\nHost: localhost\r\n"
                            + "Content-Type: application/json\r\n"
                            + "Content-Length: \(Self.count.utf8.count)\r\n\r\n\(Self.count)")
                    try raw.finishSending()
                    let answer = String(decoding: try raw.remainingBytes(), as: UTF8.self)
                    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
                    #expect(answer.hasSuffix(#""result":{"count":7}}"#), "\(answer)")
                }
            }
        }
    }

    @Test func `a service that stops ends the costly reads its drain time did not see end`()
        async throws
    {
        let (backend, end) = (EndlessBackend(), TestOutcome())
        try await Servers.serve(backend) { port in
            // On a thread of its own: it waits until the service closes, which takes tasks.
            Thread.detachNewThread {
                try? RawConnection.with(port: port) { raw in
                    try raw.send(Self.count)
                    end.set(try raw.line() ?? "closed")
                }
            }
            try await wait { backend.running.load(ordering: .relaxed) == 1 }
        }
        #expect(backend.stopped.load(ordering: .relaxed) == 1)
        try await wait { end.text == "closed" }
    }
}
