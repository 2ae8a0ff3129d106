import Objects
import TestSupport
import Testing

/// What a stream of events says while nothing happens.
@Suite(.timeLimit(.minutes(5))) struct EventPulseTests {
    @Test func `After fifteen seconds without an event a comment keeps proxies awake`() async throws
    {
        let clock = TestClock(0)
        try await TestService.with(web: Web.open, monotonic: clock) { service in
            try await Web.fill(service, 1)
            let port = service.webPort
            try await onBlockingThreads {
                try RawConnection.with(port: port) { raw in
                    try raw.send("GET /watch?bucket=shops HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    while let line = try raw.line(), !line.hasPrefix("data: ") {}
                    clock.advance(15_000_000_000)
                    var lines: [String] = []
                    while let line = try raw.line() {
                        lines.append(line)
                        if line.hasPrefix(":") { break }
                    }
                    #expect(lines.last == ": the watch goes on")
                    #expect(!lines.contains { $0.hasPrefix("event: ") || $0.hasPrefix("data: ") })
                }
            }
        }
    }
}
