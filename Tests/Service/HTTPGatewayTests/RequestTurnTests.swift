import TestSupport
import Testing

/// Requests that come behind each other, and such as are none.
extension GatewayTests {
    @Test func `Requests that come at once are answered in turn, also when no more can come`()
        async throws
    {
        try await Self.with { port in
            for count in [2, 500] {
                try RawConnection.with(port: port) { raw in
                    try raw.send(String(repeating: Self.get, count: count))
                    try raw.finishSending()
                    for _ in 0..<count { #expect(try Self.answer(raw) == Self.alive) }
                    #expect(try raw.line() == nil)
                }
            }
        }
    }

    @Test func `A request names one host`() async throws {
        try await Self.with { port in
            for (version, hosts, status) in [
                ("1.1", 0, 400), ("1.1", 1, 200), ("1.1", 2, 400), ("1.0", 0, 200),
                ("1.0", 2, 400),
            ] {
                try RawConnection.with(port: port) { raw in
                    let lines =
                        ["GET /healthz HTTP/\(version)"]
                        + Array(repeating: "Host: localhost", count: hosts)
                    try raw.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
                    let answer = try raw.line()
                    #expect(
                        answer?.hasPrefix("HTTP/1.1 \(status) ") == true,
                        "HTTP/\(version), \(hosts) hosts: \(answer ?? "nothing")")
                }
            }
            // What comes before it is answered, what comes behind it is not.
            try RawConnection.with(port: port) { raw in
                try raw.send(Self.get + "GET /healthz HTTP/1.1\r\n\r\n" + Self.get)
                #expect(try Self.answer(raw) == Self.alive)
                #expect(try raw.line()?.hasPrefix("HTTP/1.1 400 ") == true)
                let rest = try raw.remainingLines()
                #expect(!rest.contains("alive") && !rest.contains { $0.hasPrefix("HTTP/") })
            }
        }
    }
}
