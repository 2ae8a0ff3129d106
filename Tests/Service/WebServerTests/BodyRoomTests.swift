import Objects
import TestSupport
import Testing

/// How much of bodies the web port holds, and how they come.
@Suite(.timeLimit(.minutes(5))) struct BodyRoomTests {
    /// A request whose body comes in chunks, and how it is answered: status and body.
    private static func answer(_ raw: RawConnection, _ chunks: [String]) throws -> String {
        try raw.send(
            "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Web.json)\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n")
        for chunk in chunks {
            try raw.send("\(String(chunk.utf8.count, radix: 16))\r\n\(chunk)\r\n")
        }
        try raw.send("0\r\n\r\n")
        let status = try raw.line()?.split(separator: " ")[1] ?? ""
        var length = 0
        while let line = try raw.line(), line != "\r" {
            if line.lowercased().hasPrefix("content-length: ") {
                length = Int(line.dropFirst(16).dropLast()) ?? 0
            }
        }
        return "\(status) \(String(decoding: try raw.bytes(length), as: UTF8.self))"
    }

    private static let ping = #"{"jsonrpc":"2.0","id":1,"method":"server.ping"}"#
    private static let pong = #"200 {"jsonrpc":"2.0","id":1,"result":"pong"}"#

    @Test func `A body in chunks is the body, however it is cut`() async throws {
        try await TestService.with(web: Web.open) { service in
            let port = service.webPort
            try await onBlockingThreads {
                try RawConnection.with(port: port) { raw in
                    for size in [1, 7, Self.ping.utf8.count] {
                        let chunks = stride(from: 0, to: Self.ping.count, by: size).map {
                            String(Self.ping.dropFirst($0).prefix(size))
                        }
                        let answer = try Self.answer(raw, chunks)
                        #expect(answer == Self.pong, "\(size)")
                    }
                }
            }
        }
    }

    @Test(arguments: [-1, 0, 1])
    func `A body in chunks may be as long as a line, and not longer`(_ beyond: Int) async throws {
        var limits = Limits()
        limits.lineBytes = 2_048
        try await TestService.with(limits: limits, web: Web.open) { service in
            let port = service.webPort
            let blanks = String(repeating: " ", count: 2_048 - Self.ping.utf8.count + beyond)
            try await onBlockingThreads {
                try RawConnection.with(port: port) { raw in
                    let answer = try Self.answer(raw, [Self.ping, blanks])
                    #expect(beyond > 0 ? answer.hasPrefix("413 ") : answer == Self.pong)
                }
            }
        }
    }

    @Test func `What refused bodies have occupied is given back`() async throws {
        var limits = Limits()
        (limits.lineBytes, limits.bufferedBytes) = (8_192, 4_096)
        try await TestService.with(limits: limits, web: Web.open) { service in
            let port = service.webPort
            let long = String(repeating: " ", count: 4_097)
            try await onBlockingThreads {
                for _ in 0..<3 {
                    try RawConnection.with(port: port) { raw in
                        // The first chunk alone is more than all requests together may have.
                        let answer = try Self.answer(raw, [long, " "])
                        #expect(answer.hasPrefix("503 "), "\(answer)")
                        #expect(answer.contains("TEMPORARY_UNAVAILABLE_ERROR"))
                    }
                    try RawConnection.with(port: port) { raw in
                        let answer = try Self.answer(raw, [Self.ping])
                        #expect(answer == Self.pong)
                    }
                }
            }
        }
    }
}
