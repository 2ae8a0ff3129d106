import GeoBucketClient
import Objects
import Synchronization
import TestSupport
import Testing

/// "Bytes of writes that wait, over all connections": beyond them a connection's next write is not begun.
@Suite(.timeLimit(.minutes(20))) struct WriteRoomTests {
    private static let params = Array(
        (#"{"bucket":"shops","id":"o1","object":{"pad":""# + String(repeating: "x", count: 1_000)
            + #""}}"#).utf8)
    private static let ping = #"{"jsonrpc":"2.0","id":1,"method":"server.ping"}"# + "\n"

    @Test func `Writes beyond the room wait, reads of others go on, all are answered in order`()
        async throws
    {
        let backend = PausedBackend()
        var limits = Limits()
        limits.queuedWriteBytes = 5_000
        try await Servers.serve(backend, limits: limits) { port in
            let (connections, each) = (4, 10)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<connections {
                    group.addTask {
                        try await LineConnection.with(host: "127.0.0.1", port: port) { line in
                            let answers = (0..<each).map { _ in
                                line.begin("object.put", Self.params)
                            }
                            for answer in answers {
                                _ = try LineConnection.result(of: try await answer.value())
                            }
                        }
                    }
                }
                // The room is used up, by one write more of each event loop at most.
                while backend.bufferedBytes < 5_000 { try await Task.sleep(for: .milliseconds(1)) }
                try RawConnection.with(port: port) { raw in
                    for _ in 0..<20 {
                        try raw.send(Self.ping)
                        #expect(try raw.line()?.contains("pong") == true)
                    }
                }
                let left = Mutex(connections * each)
                let releases = Task.detached {
                    while left.withLock({ $0 }) > 0 {
                        let released = backend.release()
                        left.withLock { $0 -= released }
                        await Task.yield()
                    }
                }
                try await group.waitForAll()
                await releases.value
            }
        }
        #expect(backend.mostPausedBytes < 5_000 + 2_000, "\(backend.mostPausedBytes)")
    }
}
