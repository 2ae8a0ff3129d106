import Objects
import TestSupport
import Testing

/// The errors of the wire: number, name, path, and what their words may not hold.
@Suite struct ErrorRules {
    private static func error(_ line: String?) throws -> JSONValue {
        try #require(try JSONValue(parsing: line ?? "null")["error"])
    }

    @Test(
        arguments: [
            ("nope.method", "{}", -32_601, "METHOD_NOT_FOUND", nil),
            ("Server.ping", "{}", -32_601, "METHOD_NOT_FOUND", nil),
            ("", "{}", -32_601, "METHOD_NOT_FOUND", nil),
            (
                "bucket.query", #"{"bucket":"b1","fields":1}"#, -32_602, "INVALID_INPUT_DATA",
                "fields"
            ),
            (
                "bucket.query",
                #"{"bucket":"b1","bucketQuery":{"clause":{"type":"geodistance","field":"f","center":{"_type":"point","lat":1,"lon":1},"radius":0}}}"#,
                -32_602, "INVALID_INPUT_DATA", "bucketQuery.clause.radius"
            ),
            (
                "bucket.query",
                #"{"bucket":"b1","bucketQuery":{"aggregations":[{"type":"COUNT","putAggregationInto":"n"}]},"paginationKey":"k"}"#,
                -32_602, "QUERY_NOT_SUPPORTED", "paginationKey"
            ),
            ("bucket.count", #"{"bucket":"-"}"#, -32_602, "INVALID_BUCKET", "bucket"),
            ("object.get", #"{"bucket":"b1","id":"x"}"#, -32_602, "INVALID_OBJECT_ID", "id"),
            ("object.get", #"{"bucket":"b1"}"#, -32_602, "INVALID_INPUT_DATA", "id"),
            ("object.create", #"{"bucket":"b1"}"#, -32_602, "INVALID_INPUT_DATA", "object"),
            (
                "object.create",
                #"{"bucket":"b1","object":{"a":"\#(String(repeating: "x", count: 65_534))"}}"#,
                -32_602,
                "OBJECT_TOO_LARGE", "object"
            ),
            ("object.get", #"{"bucket":"b1","id":"o9"}"#, 1_404, "OBJECT_NOT_FOUND", nil),
            ("bucket.delete", #"{"bucket":"b9"}"#, 1_404, "BUCKET_NOT_FOUND", "bucket"),
            (
                "object.delete", #"{"bucket":"b1","id":"o1","ifVersion":5}"#, 1_409,
                "OBJECT_VERSION_IS_STALE", "ifVersion"
            ),
            (
                "object.put", #"{"bucket":"b1","id":"o1","object":{},"ifAbsent":true}"#, 1_409,
                "OBJECT_ALREADY_EXISTS", "id"
            ),
        ] as [(String, String, Int, String, String?)])
    func `An error has its number, its name and the path of the member`(
        _ method: String, _ params: String, _ code: Int, _ name: String, _ path: String?
    ) async throws {
        try await TestService.with { service in
            try await service.store(["o1": ""])
            let line = try await service.line(
                #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#)
            let answer = try JSONValue(parsing: line)
            #expect(answer.names == ["jsonrpc", "id", "error"])
            #expect(answer["jsonrpc"] == .string("2.0"))
            let error = try #require(answer["error"])
            #expect(error.names == ["code", "message", "data"])
            #expect(error["code"] == .int(code))
            #expect(error["data"]?["errorCode"] == .string(name))
            #expect(error["data"]?["path"]?.string == path)
            #expect(error["message"]?.string?.isEmpty == false)
        }
    }

    /// Texts that are not JSON, and where they cease to be it.
    static let noJSON: [([UInt8], Int?)] = [
        (Array("{".utf8), nil), (Array("nul".utf8), nil), (Array("[1,]".utf8), nil),
        (Array("{\"a\":1,}".utf8), nil), (Array("{'a':1}".utf8), nil), (Array("[1] x".utf8), nil),
        (Array("[01]".utf8), nil), (Array("[1.]".utf8), nil), (Array("[.5]".utf8), nil),
        (Array("[+1]".utf8), nil), (Array("[NaN]".utf8), nil), (Array("[1e]".utf8), nil),
        (Array("[\"\\x and more\",5]".utf8), 1), (Array("{\"a\":5,\"\\q\":6}".utf8), 7),
        (Array("[\"a\tb\"]".utf8), nil), (Array("[\"a".utf8), nil),
        (Array("// x".utf8), nil), (Array("   ".utf8), nil), (Array("\u{feff}[]".utf8), 0),
        (Array("[\"".utf8) + [0xFF] + Array("\"]".utf8), 2),
        (Array("[\"".utf8) + [0xC3] + Array("\"]".utf8), 2),
        (Array("[\"".utf8) + [0xED, 0xA0, 0x80] + Array("\"]".utf8), 2),
        (Array("[\"".utf8) + [0xC0, 0xAF] + Array("\"]".utf8), 2),
        (Array("[\"".utf8) + [0xF4, 0x90, 0x80, 0x80] + Array("\"]".utf8), 2),
        (Array("[\"\\ud800\"]".utf8), nil), (Array("[\"a\u{0}b\"]".utf8), nil), ([0], nil),
    ]

    @Test func `What is not JSON is refused under a null id, and the connection goes on`()
        async throws
    {
        try await FramingRules.with { raw in
            for (bytes, offset) in Self.noJSON {
                try raw.send(bytes + [0x0A])
                try raw.send(FramingRules.ping())
                let line = try raw.line()
                let text = String(decoding: bytes, as: UTF8.self)
                #expect(try FramingRules.code(line) == "-32700 INVALID_JSON id null", "\(text)")
                let told = try Self.error(line)["data"]?["offset"]?.int
                #expect((0...bytes.count).contains(told ?? 0), "\(text)")
                if let offset { #expect(told == offset, "\(text)") }
                #expect(try raw.line() == FramingRules.pong())
            }
        }
    }

    @Test func `Nesting beyond the parser's depth is refused, whatever its shape`() async throws {
        try await FramingRules.with { raw in
            for (open, close) in [("[", "]"), (#"{"a":"#, "}"), (#"[{"a":"#, "}]")] {
                for depth in [1_100, 50_000] {
                    let text =
                        String(repeating: open, count: depth) + "1"
                        + String(repeating: close, count: depth)
                    try raw.send(text + "\n" + String(repeating: open, count: depth) + "\n")
                    for _ in 0..<2 {
                        let code = try FramingRules.code(try raw.line())
                        #expect(code == "-32700 INVALID_JSON id null")
                    }
                }
            }
            try raw.send(FramingRules.ping())
            #expect(try raw.line() == FramingRules.pong())
        }
    }

    @Test func `A deeply nested object is stored, read, patched and searched`() async throws {
        let depth = 500
        let nested =
            String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth)
        let path = Array(repeating: "a", count: depth).joined(separator: ".")
        var limits = Limits()
        limits.objectDepth = depth
        try await TestService.with(limits: limits) { service in
            _ = try await service.put("o1", nested)
            #expect(try await service.getText("o1").hasSuffix(String(nested.dropFirst())))
            let patch = nested.replacing("1", with: "2")
            try await service.call(
                "object.patch", #"{"bucket":"b1","id":"o1","object":\#(patch)}"#)
            let eq = #"{"type":"eq","field":"\#(path)","value":2}"#
            #expect(try await service.ids(eq) == ["o1"])
        }
    }

    @Test func `A connection too many is told so and closed`() async throws {
        var limits = Limits()
        limits.connections = 2
        try await TestService.with(limits: limits) { service in
            // The service's own connection is the first.
            try await service.call("server.ping")
            try RawConnection.with(port: service.port) { second in
                try second.send(FramingRules.ping())
                #expect(try second.line() == FramingRules.pong())
                try RawConnection.with(port: service.port) { third in
                    try third.send(FramingRules.ping())
                    let line = try third.line()
                    #expect(try FramingRules.code(line) == "1429 TOO_MANY_REQUESTS id null")
                    let wait = try Self.error(line)["data"]?["retryAfterMillis"]?.int
                    #expect((wait ?? 0) > 0)
                    #expect(try third.line() == nil)
                }
                // One that asks for nothing is not waited for.
                let silent = try RawConnection.with(port: service.port) { try $0.remainingLines() }
                #expect(silent == [])
                try second.send(FramingRules.ping("2"))
                #expect(try second.line() == FramingRules.pong("2"))
            }
        }
    }

    @Test func `Refused connections do not count, and get their answer whatever they send`()
        async throws
    {
        var limits = Limits()
        limits.connections = 2
        try await TestService.with(limits: limits) { service in
            try await service.call("server.ping")
            try RawConnection.with(port: service.port) { second in
                try second.send(FramingRules.ping())
                #expect(try second.line() == FramingRules.pong())
                for _ in 0..<10 {
                    try RawConnection.with(port: service.port) { refused in
                        try refused.send(String(repeating: FramingRules.ping(), count: 5_000))
                        let line = try refused.line()
                        #expect(
                            try FramingRules.code(line) == "1429 TOO_MANY_REQUESTS id null")
                    }
                }
                let stats = try JSONValue(parsing: Self.stats(second))
                let connections = stats["result"]?["connections"]
                #expect(connections?["open"]?.int == 2)
                #expect(connections?["refused"]?.int == 10)
            }
        }
    }

    private static func stats(_ raw: RawConnection) throws -> String {
        try raw.send(#"{"jsonrpc":"2.0","id":1,"method":"server.stats"}"# + "\n")
        return try #require(try raw.line())
    }

    @Test func `A query that takes too long is given up`() async throws {
        var limits = Limits()
        limits.queryMilliseconds = 0
        try await TestService.with(limits: limits) { service in
            for batch in 0..<2 {
                try await service.store((0..<200).map { ("i\(batch)-\($0)", "\"n\":\($0)") })
            }
            let line = try await service.line(
                #"{"jsonrpc":"2.0","id":1,"method":"bucket.query","params":{"bucket":"b1","bucketQuery":{"orderBy":"n"}}}"#
            )
            #expect(try FramingRules.code(line) == "1503 QUERY_TIMEOUT id 1")
            #expect(try await service.text("server.ping") == "\"pong\"")
        }
    }

    @Test func `Errors quote a client's text only in part`() async throws {
        let long = String(repeating: "x", count: 100_000)
        try await TestService.with { service in
            for params in [
                #"{"bucket":"\#(long)"}"#,
                #"{"bucket":"b1","bucketQuery":{"clause":{"type":"\#(long)"}}}"#,
            ] {
                let failure = try await service.error("bucket.query", params)
                #expect((failure?.message.utf8.count ?? 0) < 1_000)
            }
        }
    }
}
