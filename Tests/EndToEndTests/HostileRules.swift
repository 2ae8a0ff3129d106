import GeoBucketClient
import Glibc
import Objects
import TestSupport
import Testing

/// Clients that mean ill, or are broken, and what the others see of it: nothing.
@Suite(.timeLimit(.minutes(20))) struct HostileRules {
    private static func expectGoodService(_ service: TestService) async throws {
        #expect(try await service.text("server.ping") == "\"pong\"")
        _ = try await service.put("good", #"{"n":1}"#)
        #expect(try await service.get("good")["n"] == .int(1))
    }

    private static func waitForConnections(_ count: Int, _ service: TestService) async throws {
        while true {
            let stats = try await service.call("server.stats")
            if stats["connections"]?["open"]?.int == count { return }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test func `A line that does not end is answered by an error after lineMilliseconds`()
        async throws
    {
        var limits = Limits()
        limits.lineMilliseconds = 500
        try await TestService.with(limits: limits) { service in
            try RawConnection.with(port: service.port) { raw in
                try raw.send(FramingRules.ping() + "{\"jsonrpc\"")
                #expect(try raw.line() == FramingRules.pong())
                #expect(try FramingRules.code(try raw.line()) == "-32600 INVALID_REQUEST id null")
                #expect(try raw.line() == nil)
            }
            // Too long already, and skipped: it ends too.
            try RawConnection.with(port: service.port) { raw in
                try raw.send(String(repeating: "x", count: 1_100_000))
                #expect(try FramingRules.code(try raw.line()) == "-32600 LINE_TOO_LONG id null")
                #expect(try FramingRules.code(try raw.line()) == "-32600 INVALID_REQUEST id null")
                #expect(try raw.line() == nil)
            }
            try await Self.expectGoodService(service)
        }
    }

    @Test
    func `A connection that asks for nothing is closed after idleMilliseconds, without a word`()
        async throws
    {
        var limits = Limits()
        limits.idleMilliseconds = 300
        try await TestService.with { service in try await Self.expectGoodService(service) }
        try await TestService.with(limits: limits) { service in
            let silent = try RawConnection.with(port: service.port) { try $0.remainingLines() }
            #expect(silent == [])
            try RawConnection.with(port: service.port) { raw in
                try raw.send(FramingRules.ping())
                #expect(try raw.remainingLines() == [FramingRules.pong()])
            }
        }
    }

    @Test func `Who has to log in and does not is closed after handshakeMilliseconds`() async throws
    {
        var limits = Limits()
        limits.handshakeMilliseconds = 1_000
        try await LoginRules.with(limits: limits) { guarded in
            let token = guarded.tokens["reader"]!.text
            try RawConnection.with(port: guarded.service.port) { stranger in
                try RawConnection.with(port: guarded.service.port) { reader in
                    try reader.send(
                        #"{"jsonrpc":"2.0","id":1,"method":"auth.login","params":{"token":"\#(token)"}}"#
                            + "\n")
                    #expect(try reader.line()?.contains("rita") == true)
                    try stranger.send(FramingRules.ping())
                    #expect(try stranger.remainingLines() == [FramingRules.pong()])
                    try reader.send(FramingRules.ping())
                    #expect(try reader.line() == FramingRules.pong())
                }
            }
        }
    }

    @Test
    func `A client that never reads is closed after unreadMilliseconds, one that reads goes on`()
        async throws
    {
        var limits = Limits()
        limits.unreadMilliseconds = 200
        limits.outputBytes = 65_536
        try await TestService.with(limits: limits) { service in
            try await service.store(["o1": #""a":"\#(String(repeating: "x", count: 60_000))""#])
            let get =
                #"{"jsonrpc":"2.0","id":1,"method":"object.get","params":{"bucket":"b1","id":"o1"}}"#
            try await RawConnection.during(port: service.port) { raw in
                try raw.send(String(repeating: get + "\n", count: 1_000))
                try await Self.waitForConnections(1, service)
                withExtendedLifetime(raw) {}
            }
            try await Self.expectGoodService(service)
        }
    }

    @Test
    func `When all connections together hold too much, the one that holds the most is closed`()
        async throws
    {
        var limits = Limits()
        limits.bufferedBytes = 3 << 20
        try await TestService.with(limits: limits) { service in
            // Five clients in the middle of a line, the last ones of a smaller one.
            let sizes = [1_000_000, 900_000, 800_000, 700_000, 600_000]
            try RawConnection.with(port: service.port, count: sizes.count) { clients in
                for (client, size) in zip(clients, sizes) {
                    try client.send([UInt8](repeating: UInt8(ascii: " "), count: size))
                }
                let line = try clients[0].line()
                #expect(try FramingRules.code(line) == "1429 TOO_MANY_REQUESTS id null")
                #expect(try clients[0].line() == nil)
                for client in clients.dropFirst() {
                    try client.send(FramingRules.ping())
                    #expect(try client.line() == FramingRules.pong())
                }
            }
            try await Self.expectGoodService(service)
        }
    }

    @Test(arguments: [-1, 0, 1])
    func `All connections together may hold bufferedBytes and not one byte more`(
        _ more: Int
    ) async throws {
        var limits = Limits()
        limits.bufferedBytes = 1_400_000
        try await TestService.with(limits: limits) { service in
            try RawConnection.with(port: service.port, count: 2) { clients in
                for (client, size) in zip(clients, [800_000 + more, 600_000]) {
                    try client.send([UInt8](repeating: UInt8(ascii: " "), count: size))
                }
                // Several times as long as it takes until it is looked at.
                let isClosed = !clients[0].isSilent(milliseconds: 1_000)
                #expect(isClosed == (more > 0))
                // With a ping both would hold too much, for as long as such a line is looked at.
                guard isClosed else { return }
                try clients[1].send(FramingRules.ping())
                #expect(try clients[1].line() == FramingRules.pong())
            }
        }
    }

    @Test
    func `Clients that vanish in the middle of an answer, a write or a batch leave nothing behind`()
        async throws
    {
        try await TestService.with { service in
            for number in 0..<20 {
                try await service.store([
                    "i\(number)": #""a":"\#(String(repeating: "x", count: 50_000))""#
                ])
            }
            let query =
                #"{"jsonrpc":"2.0","id":1,"method":"bucket.query","params":{"bucket":"b1"}}"#
            let writes = (1...200).map {
                #"{"jsonrpc":"2.0","id":\#($0),"method":"object.put","params":{"bucket":"b2","id":"o\#($0)","object":{}}}"#
            }
            for text in [
                String(repeating: query + "\n", count: 20), writes.joined(separator: "\n") + "\n",
                "[" + writes.joined(separator: ",") + "]\n",
                "[" + writes.joined(separator: ","), query,
            ] {
                for resets in [true, false] {
                    try RawConnection.with(port: service.port) { raw in
                        try raw.send(text)
                        if resets { try raw.resetOnClose() }
                    }
                }
            }
            try await Self.waitForConnections(1, service)
            try await Self.expectGoodService(service)
        }
    }

    @Test
    func
        `Names made to collide, numbers without end and text that is no UTF-8 cost nobody anything`()
        async throws
    {
        try await TestService.with { service in
            let names = (0..<6_000).map { "\"k\($0)\":1" }.joined(separator: ",")
            let digits = String(repeating: "9", count: 400_000)
            let head =
                #"{"jsonrpc":"2.0","id":1,"method":"object.put","params":{"bucket":"b1","id":"o1","object":"#
            let codes = [
                (head + "{\(names),\(names)}}}", "-32602 INVALID_INPUT_DATA id 1"),
                (head + "{\"n\":\(digits)}}}", "-32602 INVALID_INPUT_DATA id 1"),
                (head + "{\"n\":1e\(digits)}}}", "-32602 INVALID_INPUT_DATA id 1"),
                (head + "{\"n\":-0.\(digits)}}}", "-32602 OBJECT_TOO_LARGE id 1"),
                (String(repeating: #"{"a":"#, count: 150_000), "-32700 INVALID_JSON id null"),
            ]
            try RawConnection.with(port: service.port) { raw in
                for (text, code) in codes {
                    try raw.send(text + "\n")
                    #expect(try FramingRules.code(try raw.line()) == code, "\(text.prefix(100))")
                }
                // An id is echoed as it was spelled, whatever number it is.
                try raw.send(#"{"jsonrpc":"2.0","id":\#(digits),"method":"server.ping"}"# + "\n")
                #expect(
                    try raw.line() == #"{"jsonrpc":"2.0","id":\#(digits),"result":"pong"}"#)
                try raw.send(Array(head.utf8) + [0x22, 0xC3, 0x28, 0x22, 0x7D, 0x7D, 0x0A])
                #expect(try FramingRules.code(try raw.line()) == "-32700 INVALID_JSON id null")
            }
            try await Self.expectGoodService(service)
        }
    }

    @Test func `A client with much to do does not hold up one that asks for little`() async throws {
        try await TestService.with { service in
            try await service.store((0..<60).map { ("i\($0)", "\"n\":\($0)") })
            let query =
                #""method":"bucket.query","params":{"bucket":"b1","bucketQuery":{"clause":{"type":"range","field":"n","lowerLimit":0},"orderBy":"n"},"bestEffortLimit":1,"fields":[]}}"#
            let count = 2_000
            let lines = (1...count).map { #"{"jsonrpc":"2.0","id":\#($0),\#(query)"# + "\n" }
            try RawConnection.with(port: service.port, count: 2) { clients in
                let (busy, other) = (clients[0], clients[1])
                try other.send(FramingRules.ping())
                #expect(try other.line() == FramingRules.pong())
                try busy.send(lines[..<1_000].joined())
                try other.send(#"{"jsonrpc":"2.0","id":1,"method":"server.stats"}"# + "\n")
                try busy.send(lines[1_000...].joined())
                // The other's answer does not wait for all of these.
                let stats = try JSONValue(parsing: try #require(try other.line()))["result"]
                let done = try #require(stats?["requests"]?["bucket.query"]?["count"]?.int)
                #expect(done < 1_000, "\(done) were answered first")
                for number in 1...count {
                    #expect(
                        try busy.line()?.hasPrefix(#"{"jsonrpc":"2.0","id":\#(number),"#) == true)
                }
            }
        }
    }
}
