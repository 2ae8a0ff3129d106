import Objects
import TestSupport
import Testing

/// Retries that do a write once: `requestKey`.
@Suite struct RequestKeyRules {
    private let day: Int64 = 24 * 3_600_000

    @Test func `A repeat within a day answers what the first did, and does nothing`() async throws {
        let clock = TestClock(1_000)
        try await TestService.with(clock: clock) { service in
            _ = try await service.put("o0", #"{"n":1}"#)
            let writes = [
                ("object.create", #"{"bucket":"b1","object":{"n":1},"requestKey":"k1"}"#),
                ("object.put", #"{"bucket":"b1","id":"o1","object":{"n":1},"requestKey":"k2"}"#),
                ("object.patch", #"{"bucket":"b1","id":"o1","object":{"m":1},"requestKey":"k3"}"#),
                (
                    "object.putMany",
                    #"{"bucket":"b1","objects":[{},{"_id":"o2"}],"requestKey":"k4"}"#
                ),
                ("object.delete", #"{"bucket":"b1","id":"o2","requestKey":"k5"}"#),
                (
                    "bucket.deleteWhere",
                    #"{"bucket":"b1","bucketQuery":{"clause":{"type":"eq","field":"n","value":1}},"requestKey":"k6"}"#
                ),
                ("bucket.delete", #"{"bucket":"b1","requestKey":"k7"}"#),
            ]
            for (method, params) in writes {
                let first = try await service.text(method, params)
                let change = try await service.call("server.stats")["change"]
                clock.now += day / 8
                #expect(try await service.text(method, params) == first, "\(method)")
                #expect(try await service.call("server.stats")["change"] == change, "\(method)")
            }
        }
    }

    @Test func `After a day a key is free again`() async throws {
        let clock = TestClock(1_000)
        try await TestService.with(clock: clock) { service in
            let params = #"{"bucket":"b1","object":{},"requestKey":"k1"}"#
            let first = try await service.text("object.create", params)
            clock.now += day - 1
            #expect(try await service.text("object.create", params) == first)
            clock.now += 1
            #expect(try await service.text("object.create", params) != first)
            #expect(try await service.ids().count == 2)
        }
    }

    @Test func `A key that stands for another request is refused by name`() async throws {
        try await TestService.with { service in
            _ = try await service.put("o1", #"{"n":1}"#, more: #","requestKey":"k1""#)
            for (method, params) in [
                ("object.put", #"{"bucket":"b1","id":"o1","object":{"n":2},"requestKey":"k1"}"#),
                ("object.put", #"{"bucket":"b1","id":"o2","object":{"n":1},"requestKey":"k1"}"#),
                ("object.patch", #"{"bucket":"b1","id":"o1","object":{"n":1},"requestKey":"k1"}"#),
            ] {
                #expect(
                    try await service.outcome(method, params) == "INVALID_INPUT_DATA requestKey")
            }
            #expect(try await service.getText("o1").hasSuffix(#""_version":1,"n":1}"#))
            #expect(
                try await service.outcome(
                    "object.put",
                    #"{ "bucket":"b1", "id":"o1","object":{"n":1},"requestKey":"k1"}"#)
                    == "accepted", "spaces make no other request")
        }
    }

    @Test func `A write that was refused is judged anew`() async throws {
        try await TestService.with { service in
            let patch = #"{"bucket":"b1","id":"o1","object":{},"requestKey":"k1"}"#
            #expect(try await service.outcome("object.patch", patch) == "OBJECT_NOT_FOUND")
            _ = try await service.put("o1", "{}")
            #expect(try await service.outcome("object.patch", patch) == "accepted")
            #expect(try await service.get("o1")["_version"] == .int(2))
            #expect(try await service.outcome("object.patch", patch) == "accepted")
            #expect(try await service.get("o1")["_version"] == .int(2))
        }
    }

    @Test func `Keys survive a restart`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let params = #"{"bucket":"b1","object":{},"requestKey":"k1"}"#
            let first = try await TestService.with(path: path) { service in
                try await service.text("object.create", params)
            }
            try await TestService.with(path: path) { service in
                let again = try await service.text("object.create", params)
                #expect(again == first)
                #expect(try await service.ids().count == 1)
            }
        }
    }

    @Test func `Keys have 1 to 100 bytes, and writes alone have them`() async throws {
        try await TestService.with { service in
            for (length, outcome) in [
                (0, "INVALID_INPUT_DATA requestKey"), (1, "accepted"), (99, "accepted"),
                (100, "accepted"), (101, "INVALID_INPUT_DATA requestKey"),
            ] {
                let key = String(repeating: "k", count: length)
                let found = try await service.putOutcome(
                    "o1", "{}", more: #","requestKey":"\#(key)""#)
                #expect(found == outcome, "\(length)")
            }
            #expect(
                try await service.outcome(
                    "object.get", #"{"bucket":"b1","id":"o1","requestKey":"k"}"#)
                    == "INVALID_INPUT_DATA requestKey")
        }
    }

    @Test func `As many writes are remembered as the limit says, until they are a day old`()
        async throws
    {
        let clock = TestClock(1_000)
        var limits = Limits()
        limits.requestKeys = 3
        try await TestService.with(limits: limits, clock: clock) { service in
            func put(_ key: Int) async throws -> String {
                try await service.putOutcome("o1", "{}", more: #","requestKey":"\#(key)""#)
            }
            for key in 1...3 {
                let outcome = try await put(key)
                #expect(outcome == "accepted")
            }
            clock.now += 5_000
            let refusal = try await service.error(
                "object.put", #"{"bucket":"b1","id":"o1","object":{},"requestKey":"4"}"#)
            #expect(refusal?.errorCode == "TOO_MANY_REQUESTS" && refusal?.path == "requestKey")
            #expect(refusal?.retryAfterMilliseconds == Int(day) - 5_000)
            #expect(try await put(3) == "accepted", "a repeat needs no room")
            #expect(try await service.putOutcome("o1", "{}") == "accepted", "no key, no room")
            clock.now += day
            #expect(try await put(4) == "accepted")
        }
    }

    @Test func `Two clients that count up with versions lose nothing`() async throws {
        try await TestService.with { service in
            _ = try await service.put("o1", #"{"n":0}"#)
            let each = 40
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        var done = 0
                        while done < each {
                            let object = try await service.get("o1")
                            let next = object["n"]!.int! + 1
                            let outcome = try await service.outcome(
                                "object.patch",
                                #"{"bucket":"b1","id":"o1","object":{"n":\#(next)},"ifVersion":\#(object["_version"]!.int!)}"#
                            )
                            #expect(
                                ["accepted", "OBJECT_VERSION_IS_STALE ifVersion"].contains(outcome))
                            if outcome == "accepted" { done += 1 }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await service.get("o1")["n"] == .int(4 * each))
        }
    }
}
