import Objects
import TestSupport
import Testing

/// What speaks something else than JSON-RPC gets one answer, and nothing that it sends is carried out.
@Suite struct ForeignClientRules {
    private static let put =
        #"{"jsonrpc":"2.0","id":1,"method":"object.put","params":{"bucket":"b1","id":"o1","object":{}}}"#

    /// A request of HTTP whose body writes an object.
    private static func request(_ line: String, _ fields: [String], body: String = put + "\r\n")
        -> String
    {
        ([line, "Host: 127.0.0.1:4362"] + fields + ["Content-Length: \(body.utf8.count)", "", body])
            .joined(separator: "\r\n")
    }

    private static let form = request(
        "POST / HTTP/1.1",
        ["Origin: https://example.com", "Content-Type: text/plain", "Sec-Fetch-Mode: navigate"],
        body: put + "\n=\r\n")

    /// What pages, and programs that look for a server, may send.
    static let attacks: [String: String] = [
        "a form of plain text": form,
        "fetch": request(
            "POST /rpc HTTP/1.1", ["Origin: null", "Content-Type: text/plain;charset=UTF-8"]),
        "a preflight": request("OPTIONS / HTTP/1.1", ["Access-Control-Request-Method: PUT"]),
        "a method of its own": request("null / HTTP/1.1", []),
        "a method of digits": request("1 / HTTP/1.1", []),
        "a body in pieces": "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "\(String(put.utf8.count + 1, radix: 16))\r\n\(put)\n\r\n0\r\n\r\n",
        "HTTP/0.9": "GET /\n\(put)\n",
        "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\(put)\n",
        "FTP": "USER anonymous\r\nPASS x\r\nSTOR \(put)\r\n\(put)\r\n",
        "SMTP": "\r\n\r\nEHLO x\r\n\(put)\r\n",
        "a proxy of the first kind": "PROXY TCP4 10.0.0.1 10.0.0.2 5 4362\r\n\(put)\r\n",
        "a proxy of the second kind": "\r\n\r\n\u{0}\r\nQUIT\n\(put)\n",
        "a byte order mark": "\u{FEFF}\(put)\n\(put)\n",
        "a line that is too long":
            "GET /\(String(repeating: "a", count: 70_000)) HTTP/1.1\r\nHost: x\r\n\r\n\(put)\n",
    ]

    @Test(arguments: attacks.keys.sorted())
    func `What does not begin as JSON-RPC is answered once, and nothing of it is carried out`(
        _ name: String
    ) async throws {
        var limits = Limits()
        limits.lineBytes = 65_536
        try await TestService.with(limits: limits) { service in
            let text = Self.attacks[name]!
            try RawConnection.with(port: service.port) { raw in
                try raw.send(text)
                var lines = try raw.remainingLines()
                // A line that is too long is told, and the next one decides.
                if try FramingRules.code(lines.first).contains("LINE_TOO_LONG") {
                    lines.removeFirst()
                }
                #expect(lines.count == 1)
                let line = try #require(lines.first)
                #expect(line.contains("the web port (--web)"), "\(line)")
            }
            // And a byte at a time, as far as the service listens.
            try RawConnection.with(port: service.port) { raw in
                for byte in text.utf8.prefix(600) {
                    do { try raw.send([byte]) } catch RawConnection.Failure.system { break }
                }
                try? raw.finishSending()
                _ = try? raw.remainingLines()
            }
            let found = try await service.line(
                #"{"jsonrpc":"2.0","id":1,"method":"object.get","params":{"bucket":"b1","id":"o1"}}"#
            )
            #expect(found.contains("NOT_FOUND"), "\(found)")
        }
    }

    @Test func `The first line that is no JSON is told where it ceases to be it`() async throws {
        try await FramingRules.with { raw in
            try raw.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            let lines = try raw.remainingLines()
            #expect(try FramingRules.code(lines.first) == "-32700 INVALID_JSON id null")
            #expect(lines.count == 1)
        }
    }

    @Test func `White space before the first request changes nothing`() async throws {
        try await FramingRules.with { raw in
            try raw.send("\r\n\n \t")
            try raw.send(" " + FramingRules.ping() + "x\n" + FramingRules.ping("2"))
            #expect(try raw.line() == FramingRules.pong())
            #expect(try FramingRules.code(try raw.line()) == "-32700 INVALID_JSON id null")
            #expect(try raw.line() == FramingRules.pong("2"))
        }
    }
}
