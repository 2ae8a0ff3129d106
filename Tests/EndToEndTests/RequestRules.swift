import Objects
import TestSupport
import Testing

/// JSON-RPC 2.0: ids, notifications, batches, and what is no request.
@Suite struct RequestRules {
    @Test(arguments: [
        "1", "1.0", "-0", "1e3", "12345678901234567890123", "1e400", "null", #""""#, #""é""#,
        #""\u00e9\/""#, #""😀""#, #""1""#, "0.10",
    ])
    func `An id comes back exactly as it came`(_ id: String) async throws {
        try await FramingRules.with { raw in
            try raw.send(#"{"jsonrpc":"2.0", "id" : \#(id) ,"method":"server.ping"}"# + "\n")
            #expect(try raw.line() == FramingRules.pong(id))
            try raw.send(#"{"jsonrpc":"2.0","id":\#(id),"method":"nope"}"# + "\n")
            let line = try #require(try raw.line())
            #expect(line.hasPrefix(#"{"jsonrpc":"2.0","id":\#(id),"error":{"code":-32601,"#))
            let write = #""method":"object.create","params":{"bucket":"b1","object":{}}"#
            try raw.send(#"{"jsonrpc":"2.0","id":\#(id),\#(write)}"# + "\n")
            let written = try #require(try raw.line())
            #expect(written.hasPrefix(#"{"jsonrpc":"2.0","id":\#(id),"result":{"_id":"#))
        }
    }

    @Test func `A notification is done and not answered, not even its errors`() async throws {
        let target = #""params":{"bucket":"b1","id":"o1""#
        try await FramingRules.with { raw in
            for rest in [
                #""method":"object.put",\#(target),"object":{"n":1}}"#,
                #""method":"object.patch",\#(target),"object":{"m":2}}"#,
                #""method":"object.put",\#(target),"object":{"_x":1}}"#, #""method":"nope""#,
                #""method":"object.get",\#(target)}"#, #""method":"server.ping""#,
                #""method":"server.ping","params":[1]"#,
            ] {
                try raw.send(#"{"jsonrpc":"2.0",\#(rest)}"# + "\n")
            }
            try raw.send(#"{"jsonrpc":"2.0","id":7,"method":"object.get",\#(target)}}"# + "\n")
            try raw.finishSending()
            let lines = try raw.remainingLines()
            #expect(lines.count == 1)
            #expect(lines.first?.hasSuffix(#""_version":2,"n":1,"m":2}}"#) == true)
        }
    }

    @Test func `Absent params and an empty array are the empty object`() async throws {
        try await FramingRules.with { raw in
            for params in ["", #","params":[]"#, #","params":{}"#, #","params":[ ]"#] {
                try raw.send(#"{"jsonrpc":"2.0","id":1,"method":"server.ping"\#(params)}"# + "\n")
                #expect(try raw.line() == FramingRules.pong())
            }
            try raw.send(#"{"jsonrpc":"2.0","id":1,"method":"server.ping","params":[1]}"# + "\n")
            #expect(
                try FramingRules.code(try raw.line()) == "-32602 INVALID_INPUT_DATA id 1")
        }
    }

    @Test func `Unknown params are refused by name, for every method`() async throws {
        let known: KeyValuePairs = [
            "server.info": "", "server.ping": "", "server.stats": "", "bucket.list": "",
            "bucket.count": #""bucket":"b1","#, "bucket.query": #""bucket":"b1","#,
            "bucket.explain": #""bucket":"b1","#, "bucket.delete": #""bucket":"b1","#,
            "bucket.deleteWhere": #""bucket":"b1","bucketQuery":{},"#,
            "object.create": #""bucket":"b1","object":{},"#,
            "object.put": #""bucket":"b1","id":"o1","object":{},"#,
            "object.patch": #""bucket":"b1","id":"o1","object":{},"#,
            "object.get": #""bucket":"b1","id":"o1","#,
            "object.delete": #""bucket":"b1","id":"o1","#,
            "object.putMany": #""bucket":"b1","objects":[],"#,
        ]
        try await TestService.with { service in
            for (method, params) in known {
                let failure = try await service.error(method, #"{\#(params)"extra":1}"#)
                #expect(failure?.errorCode == "INVALID_INPUT_DATA", "\(method)")
                #expect(failure?.path == "extra", "\(method)")
                #expect(failure?.message.contains("\"extra\"") == true, "\(method)")
            }
        }
    }

    @Test(arguments: [
        ("1", "null"), (#""x""#, "null"), ("null", "null"), ("true", "null"), ("{}", "null"),
        (#"{"id":1}"#, "1"), (#"{"id":1,"method":"server.ping"}"#, "1"),
        (#"{"jsonrpc":"1.0","id":1,"method":"server.ping"}"#, "1"),
        (#"{"jsonrpc":2.0,"id":1,"method":"server.ping"}"#, "1"),
        (#"{"jsonrpc":"2.0","id":1}"#, "1"), (#"{"jsonrpc":"2.0","id":1,"method":5}"#, "1"),
        (#"{"jsonrpc":"2.0","id":"a","method":null}"#, #""a""#),
        (#"{"jsonrpc":"2.0","id":1,"method":"server.ping","params":null}"#, "1"),
        (#"{"jsonrpc":"2.0","id":1,"method":"server.ping","params":"x"}"#, "1"),
        (#"{"jsonrpc":"2.0","id":1,"method":"server.ping","params":5}"#, "1"),
        (#"{"jsonrpc":"2.0","id":true,"method":"server.ping"}"#, "null"),
        (#"{"jsonrpc":"2.0","id":[1],"method":"server.ping"}"#, "null"),
        (#"{"jsonrpc":"2.0","id":{},"method":"server.ping"}"#, "null"),
        (#"{"jsonrpc":"2.0","method":5}"#, "null"), ("[]", "null"), ("[ ]", "null"),
    ])
    func `JSON that is no request is refused, under its id where it has one`(
        _ text: String, _ id: String
    ) async throws {
        try await FramingRules.with { raw in
            try raw.send(text + "\n" + FramingRules.ping("2"))
            #expect(
                try FramingRules.code(try raw.line()) == "-32600 INVALID_REQUEST id \(id)")
            #expect(try raw.line() == FramingRules.pong("2"))
        }
    }

    @Test func `A batch is answered in one line, in order, its notifications not at all`()
        async throws
    {
        func put(_ n: Int) -> String {
            #""jsonrpc":"2.0","method":"object.put","params":{"bucket":"b1","id":"o1","object":{"n":\#(n)}}"#
        }
        let get =
            #"{"jsonrpc":"2.0","id":"g","method":"object.get","params":{"bucket":"b1","id":"o1"}}"#
        let batch =
            #"[{"id":1,\#(put(1))},{\#(put(2))},\#(get),5,{"id":2},{"id":3,\#(put(3))},\#(get)]"#
        try await FramingRules.with { raw in
            try raw.send(batch + "\n" + FramingRules.ping())
            let line = try #require(try raw.line())
            let answers = try #require(try JSONValue(parsing: line).array)
            #expect(answers.map { $0["id"]?.text } == ["1", "\"g\"", "null", "2", "3", "\"g\""])
            #expect(answers[0]["result"]?["_version"] == .int(1))
            #expect(answers[1]["result"]?["n"] == .int(2))
            #expect(answers[2]["error"]?["code"] == .int(-32_600))
            #expect(answers[3]["error"]?["code"] == .int(-32_600))
            #expect(answers[4]["result"]?["_version"] == .int(3))
            #expect(answers[5]["result"]?["n"] == .int(3))
            #expect(try raw.line() == FramingRules.pong())
        }
    }

    @Test func `A batch of notifications alone is not answered`() async throws {
        let note =
            #"{"jsonrpc":"2.0","method":"object.create","params":{"bucket":"b1","object":{}}}"#
        try await FramingRules.with { raw in
            try raw.send("[\(note),\(note)]\n")
            try raw.send(
                #"{"jsonrpc":"2.0","id":1,"method":"bucket.count","params":{"bucket":"b1"}}"# + "\n"
            )
            try raw.finishSending()
            #expect(
                try raw.remainingLines() == [#"{"jsonrpc":"2.0","id":1,"result":{"count":2}}"#])
        }
    }

    @Test func `A batch of invalid members is answered member by member`() async throws {
        try await FramingRules.with { raw in
            try raw.send("[1,[],null]\n[[\(FramingRules.ping("1", end: ""))]]\n")
            for count in [3, 1] {
                let line = try #require(try raw.line())
                let answers = try #require(try JSONValue(parsing: line).array)
                #expect(answers.count == count)
                #expect(
                    try answers.allSatisfy {
                        try FramingRules.code($0.text) == "-32600 INVALID_REQUEST id null"
                    })
            }
        }
    }

    @Test func `A batch has at most 1,000 requests`() async throws {
        try await FramingRules.with { raw in
            for count in [999, 1_000, 1_001] {
                let pings = (0..<count).map { FramingRules.ping("\($0)", end: "") }
                try raw.send("[\(pings.joined(separator: ","))]\n")
                let line = try #require(try raw.line())
                if count <= 1_000 {
                    let answers = (0..<count).map { FramingRules.pong("\($0)") }
                    #expect(line == "[\(answers.joined(separator: ","))]")
                } else {
                    #expect(try FramingRules.code(line) == "-32600 INVALID_REQUEST id null")
                }
            }
        }
    }

    @Test func `The batch limit is configurable and published`() async throws {
        var limits = Limits()
        limits.batchRequests = 2
        try await TestService.with(limits: limits) { service in
            let ping = FramingRules.ping("1", end: "")
            let info = try await service.call("server.info")
            #expect(info["limits"]?["batchRequests"] == .int(2))
            #expect(try await service.line("[\(ping),\(ping)]").hasPrefix("[{"))
            #expect(try await service.line("[\(ping),\(ping),\(ping)]").contains("INVALID_REQUEST"))
        }
    }
}
