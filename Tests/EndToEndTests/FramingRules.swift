import Glibc
import Objects
import TestSupport
import Testing

/// Lines in, lines out, over a bare socket.
@Suite struct FramingRules {
    static func ping(_ id: String = "1", end: String = "\n") -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"server.ping"}"# + end
    }

    static func pong(_ id: String = "1") -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"result":"pong"}"#
    }

    static func with(
        limits: Limits = Limits(), _ body: @escaping @Sendable (RawConnection) throws -> Void
    ) async throws {
        try await TestService.with(limits: limits) { service in
            try RawConnection.with(port: service.port, body)
        }
    }

    static func code(_ line: String?) throws -> String {
        let answer = try JSONValue(parsing: line ?? "null")
        guard let error = answer["error"] else { return "no error" }
        return "\(error["code"]?.int ?? 0) \(error["data"]?["errorCode"]?.string ?? "")"
            + " id \(answer["id"]?.text ?? "absent")"
    }

    @Test func `The server says nothing that it was not asked`() async throws {
        try await Self.with { raw in
            #expect(raw.isSilent(milliseconds: 200))
            try raw.send("\n\r\n\n")
            try raw.send(#"{"jsonrpc":"2.0","method":"server.ping"}"# + "\n")
            #expect(raw.isSilent(milliseconds: 200))
            try raw.send(Self.ping())
            #expect(try raw.line() == Self.pong())
            #expect(raw.isSilent(milliseconds: 100))
        }
    }

    @Test func `A CR before the line feed and empty lines are ignored`() async throws {
        try await Self.with { raw in
            try raw.send(
                "\r\n\n" + Self.ping("1", end: "\r\n") + "\n\r\n" + Self.ping("2") + "\r\n")
            try raw.finishSending()
            #expect(try raw.remainingLines() == [Self.pong("1"), Self.pong("2")])
        }
    }

    @Test func `A line may come in any pieces`() async throws {
        try await Self.with { raw in
            for byte in Self.ping("\"é\"").utf8 { try raw.send([byte]) }
            #expect(try raw.line() == Self.pong("\"é\""))
            let two = Array((Self.ping("1") + Self.ping("2")).utf8)
            try raw.send(Array(two[..<70]))
            #expect(try raw.line() == Self.pong("1"))
            try raw.send(Array(two[70...]))
            #expect(try raw.line() == Self.pong("2"))
        }
    }

    @Test func `An unterminated last line is discarded`() async throws {
        for end in ["", "\r"] {
            try await Self.with { raw in
                try raw.send(Self.ping("1") + Self.ping("2", end: end))
                try raw.finishSending()
                #expect(try raw.remainingLines() == [Self.pong("1")])
            }
        }
        try await Self.with { raw in
            try raw.finishSending()
            #expect(try raw.remainingLines() == [])
        }
    }

    /// A ping of so many bytes.
    private static func ping(bytes: Int) -> String {
        let bare = ping("1", end: "")
        return bare + String(repeating: " ", count: bytes - bare.utf8.count)
    }

    @Test(arguments: ["\n", "\r\n"])
    func `A line has at most the limit's bytes, its line break not counted`(_ end: String)
        async throws
    {
        var limits = Limits()
        limits.lineBytes = 200
        let tooLong = "-32600 LINE_TOO_LONG id null"
        try await Self.with(limits: limits) { raw in
            for bytes in [199, 200, 201, 202, 203, 5_000, 200_000] {
                let line = Self.ping(bytes: bytes) + end
                try raw.send(line + Self.ping("2"))
                let answer = try raw.line()
                if bytes <= 200 {
                    #expect(answer == Self.pong(), "\(bytes)")
                } else {
                    #expect(try Self.code(answer) == tooLong, "\(bytes)")
                }
                #expect(try raw.line() == Self.pong("2"), "\(bytes)")
            }
            // A carriage return that is not before the line feed counts.
            try raw.send(Self.ping(bytes: 200) + "\r\r\n" + Self.ping("3"))
            #expect(try Self.code(try raw.line()) == tooLong)
            #expect(try raw.line() == Self.pong("3"))
        }
    }

    @Test func `By default a line has at most 1 MiB`() async throws {
        try await TestService.with { service in
            let info = try await service.call("server.info")
            #expect(info["limits"]?["lineBytes"] == .int(1_048_576))
            try RawConnection.with(port: service.port) { raw in
                for (bytes, isAnswered) in [(-1, true), (0, true), (1, false)] {
                    try raw.send(Self.ping(bytes: 1_048_576 + bytes) + "\r\n")
                    #expect((try raw.line() == Self.pong()) == isAnswered)
                }
            }
        }
    }

    @Test func `A line that is too long is told once, before its end, and skipped to its end`()
        async throws
    {
        var limits = Limits()
        limits.lineBytes = 100
        try await Self.with(limits: limits) { raw in
            try raw.send(String(repeating: "x", count: 1_000))
            #expect(try Self.code(try raw.line()) == "-32600 LINE_TOO_LONG id null")
            try raw.send(Self.ping("1", end: ""))
            try raw.send("\r")
            #expect(raw.isSilent(milliseconds: 100))
            try raw.send("\n" + Self.ping("2"))
            #expect(try raw.line() == Self.pong("2"))
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `100 MB without a line break are skipped in bounded time`() async throws {
        try await Self.with { raw in
            let piece = [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)
            for _ in 0..<100 { try raw.send(piece) }
            try raw.send("\n" + Self.ping())
            #expect(try Self.code(try raw.line()) == "-32600 LINE_TOO_LONG id null")
            #expect(try raw.line() == Self.pong())
        }
    }

    @Test func `A half-closed connection gets all its answers and is closed`() async throws {
        try await Self.with { raw in
            let ids = (1...500).map(String.init)
            try raw.send(ids.map { Self.ping($0) }.joined())
            try raw.finishSending()
            #expect(try raw.remainingLines() == ids.map(Self.pong))
        }
    }

    @Test func `A half-closed connection gets answers that fill every buffer`() async throws {
        try await TestService.with { service in
            for number in 0..<15 {
                try await service.store([
                    "i\(number)": #""a":"\#(String(repeating: "x", count: 60_000))""#
                ])
            }
            let query = #""method":"bucket.query","params":{"bucket":"b1"}"#
            try RawConnection.with(port: service.port) { raw in
                try raw.send(
                    (1...60).map { #"{"jsonrpc":"2.0","id":\#($0),\#(query)}"# + "\n" }.joined())
                try raw.finishSending()
                _ = raw.isSilent(milliseconds: 200)
                let lines = try raw.remainingLines()
                #expect(lines.count == 60)
                #expect(lines.allSatisfy { $0.utf8.count > 900_000 })
            }
        }
    }

    @Test func `A client that does not read is not answered without bound, and loses nothing`()
        async throws
    {
        var limits = Limits()
        limits.outputBytes = 262_144
        limits.unreadMilliseconds = 600_000
        try await TestService.with(limits: limits) { service in
            try await service.store(["o1": #""a":"\#(String(repeating: "x", count: 60_000))""#])
            let get = #""method":"object.get","params":{"bucket":"b1","id":"o1"}"#
            let count = 2_000
            let lines = (1...count).map { #"{"jsonrpc":"2.0","id":\#($0),\#(get)}"# + "\n" }
                .joined()
            try await RawConnection.during(port: service.port) { raw in
                try raw.send(lines)
                try Self.expectAnswer(1, on: raw)
                // While another client gets as many answers, there is time for all of the first's.
                try RawConnection.with(port: service.port) { other in
                    try other.send(lines)
                    for number in 1...count { try Self.expectAnswer(number, on: other) }
                }
                let stats = try await service.call("server.stats")
                // 120 MB are asked for; the kernel's buffers take some, the service's few more.
                let answered = try #require(stats["requests"]?["object.get"]?["count"]?.int)
                #expect(answered - count < 1_000)
                for number in 2...count { try Self.expectAnswer(number, on: raw) }
            }
        }
    }

    private static func expectAnswer(_ number: Int, on connection: RawConnection) throws {
        let line = try #require(try connection.line())
        #expect(line.hasPrefix(#"{"jsonrpc":"2.0","id":\#(number),"#))
    }

    @Test func `A thousand pipelined reads and writes take effect and are answered in order`()
        async throws
    {
        try await Self.with { raw in
            var text = ""
            for number in 1...500 {
                let target = #""params":{"bucket":"b1","id":"o1""#
                text +=
                    #"{"jsonrpc":"2.0","id":"w\#(number)","method":"object.put",\#(target),"object":{"n":\#(number)}}}"#
                    + "\n"
                    + #"{"jsonrpc":"2.0","id":"r\#(number)","method":"object.get",\#(target)}}"#
                    + "\n"
            }
            try raw.send(text)
            for number in 1...500 {
                let written = try JSONValue(parsing: try #require(try raw.line()))
                #expect(written["id"] == .string("w\(number)"))
                #expect(written["result"]?["_version"] == .int(number))
                let read = try JSONValue(parsing: try #require(try raw.line()))
                #expect(read["id"] == .string("r\(number)"))
                #expect(read["result"]?["n"] == .int(number))
            }
        }
    }

    @Test func `Costly queries are answered in their place too`() async throws {
        try await TestService.with { service in
            for batch in 0..<4 {
                try await service.store((0..<500).map { ("i\(batch)-\($0)", "\"n\":\($0)") })
            }
            try RawConnection.with(port: service.port) { raw in
                let query = #""params":{"bucket":"b1","bucketQuery":{"orderBy":"n"},"fields":[]}"#
                let line = #"{"jsonrpc":"2.0","id":"q","method":"bucket.query",\#(query)}"# + "\n"
                try raw.send((1...10).map { Self.ping("\($0)") + line }.joined())
                for number in 1...10 {
                    #expect(try raw.line() == Self.pong("\(number)"))
                    #expect(
                        try raw.line()?.hasPrefix(#"{"jsonrpc":"2.0","id":"q","result""#) == true)
                }
            }
        }
    }

    @Test func `Answers have no line break inside, whatever objects hold`() async throws {
        try await TestService.with { service in
            _ = try await service.put(
                "o1", #"{"a\n\r":"x\n\r\u000a\u2028","_version":1, "b":[1,"# + "\t" + "\r 2]}")
            let line = try await service.line(
                #"{"jsonrpc":"2.0","id":1,"method":"object.get","params":{"bucket":"b1","id":"o1"}}"#
            )
            #expect(line.hasSuffix(#","a\n\r":"x\n\r\u000a\u2028","b":[1,2]}}"#))
        }
    }
}
