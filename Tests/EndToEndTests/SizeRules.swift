import Objects
import TestSupport
import Testing

/// How large an object may be.
@Suite struct SizeRules {
    /// An object of so many bytes of minified JSON.
    private func object(bytes: Int) -> String {
        #"{"a":""# + String(repeating: "x", count: bytes - 8) + #""}"#
    }

    @Test(
        arguments: [(-1, "accepted"), (0, "accepted"), (1, "OBJECT_TOO_LARGE object")],
        ["x", "水", "😀", #"\u6c34"#, #"\ud83D\uDe00"#, #"\n"#, #"\""#])
    func `An object may have 65,534 characters, however they are spelled`(
        _ expected: (more: Int, outcome: String), _ character: String
    ) async throws {
        // Escapes of six bytes are more than four times as long as a character.
        var limits = Limits()
        limits.objectBytes = 1_000_000
        try await TestService.with(limits: limits) { service in
            let count = 65_534 + expected.more - 8
            let text = #"{"a":""# + String(repeating: character, count: count) + #""}"#
            let found = try await service.putOutcome("o1", text)
            #expect(found == expected.outcome)
            #expect(try await service.count(#"{"type":"all"}"#) == (expected.more > 0 ? 0 : 1))
        }
    }

    @Test(arguments: [(0, "accepted"), (1, "OBJECT_TOO_LARGE object")])
    func `An object may have 262,136 bytes as spelled`(_ more: Int, _ outcome: String) async throws
    {
        try await TestService.with { service in
            let escapes = String(repeating: #"\u6c34"#, count: 43_688)
            let text = #"{"a":""# + escapes + String(repeating: "x", count: more) + #""}"#
            #expect(text.utf8.count == 262_136 + more)
            let found = try await service.putOutcome("o1", text)
            #expect(found == outcome)
        }
    }

    @Test(arguments: [(-1, "accepted"), (0, "accepted"), (1, "OBJECT_TOO_LARGE")])
    func `The limit is configurable, the same for every way to write, and published`(
        _ more: Int, _ outcome: String
    ) async throws {
        var limits = Limits()
        limits.objectBytes = 30
        try await TestService.with(limits: limits) { service in
            func expected(_ path: String) -> String { more > 0 ? "\(outcome) \(path)" : outcome }
            let text = object(bytes: 30 + more)
            #expect(
                try await service.outcome("object.create", #"{"bucket":"b1","object":\#(text)}"#)
                    == expected("object"))
            #expect(try await service.putOutcome("o1", text) == expected("object"))
            let many = #"{"bucket":"b1","objects":[{},\#(text)]}"#
            #expect(
                try await service.outcome("object.putMany", many) == expected("objects[1]"))
            _ = try await service.put("o2", #"{"b":{"c":1}}"#)
            // {"b":{"c":1},"a":"…"} has twelve bytes besides the text of `object(bytes:)`.
            let patch = object(bytes: 30 + more - 12)
            #expect(
                try await service.outcome(
                    "object.patch", #"{"bucket":"b1","id":"o2","object":\#(patch)}"#)
                    == expected("object"))
            #expect(try await service.get("o2")["_version"] == .int(more > 0 ? 1 : 2))
            let info = try await service.call("server.info")
            #expect(info["limits"]?["objectBytes"] == .int(30))
        }
    }

    @Test func `White space and dropped fields do not count`() async throws {
        var limits = Limits()
        limits.objectBytes = 13
        try await TestService.with(limits: limits) { service in
            let text = #"{ "_id" : "dropped", "a" : [ 1 , 22 ] , "_owner":"eve-eve-eve" }"#
            let found = try await service.putOutcome("o1", text)
            #expect(found == "accepted")
            #expect(try await service.getText("o1").hasSuffix(#","a":[1,22]}"#))
            #expect(
                try await service.putOutcome("o1", #"{"a":[1,2222]}"#) == "OBJECT_TOO_LARGE object")
        }
    }
}
