import Objects
import TestSupport
import Testing

/// Objects that go by themselves: `expiresAt`.
@Suite(.timeLimit(.minutes(20))) struct ExpiryRules {
    private let near =
        #"{"type":"geodistance","field":"at","center":\#(point(1, 2)),"radius":1000}"#

    /// An object with a point, and when it expires.
    private func put(
        _ id: String, expires: String, _ service: TestService
    ) async throws -> JSONValue {
        try await service.put(
            id, #"{"n":1,"at":\#(point(1, 2))}"#, more: #","expiresAt":\#(expires)"#)
    }

    @Test func `An expired object is in no answer from its millisecond on`() async throws {
        let clock = TestClock(1_000)
        try await TestService.with(clock: clock) { service in
            _ = try await put("stays", expires: "null", service)
            _ = try await put("goes", expires: "5000", service)
            let plain = #"{"bucket":"b1"}"#
            for (time, expected) in [(4_999, ["stays", "goes"]), (5_000, ["stays"])] {
                clock.now = Int64(time)
                let count = expected.count
                for clause in [#"{"type":"all"}"#, near, #"{"type":"eq","field":"n","value":1}"#] {
                    #expect(try await service.ids(clause) == expected, "at \(time)")
                    #expect(try await service.count(clause) == count, "at \(time)")
                }
                #expect(
                    try await service.ids(#"{"type":"in","field":"_id","values":["goes"]}"#).count
                        == count - 1)
                #expect(
                    try await service.outcome("object.get", #"{"bucket":"b1","id":"goes"}"#)
                        == (count == 2 ? "accepted" : "OBJECT_NOT_FOUND"))
                let export = try await service.call("bucket.export", plain)
                #expect(export["objects"]?.array?.count == count)
                #expect(export["more"] == .bool(false))
                let explain = try await service.call(
                    "bucket.explain", #"{"bucket":"b1","analyze":true}"#)
                #expect(explain["analyze"]?["matches"] == .int(count))
                let list = try await service.call("bucket.list")
                #expect(list["buckets"]?.array?.first?["objects"] == .int(count))
            }
        }
    }

    @Test func `An export under way leaves out what expires meanwhile`() async throws {
        let clock = TestClock(1_000)
        var limits = Limits()
        limits.replyBytes = 1_024
        try await TestService.with(limits: limits, clock: clock) { service in
            let pad = String(repeating: "x", count: 600)
            for number in 0..<4 {
                _ = try await service.put(
                    "o\(number)", #"{"pad":"\#(pad)"}"#, more: #","expiresAt":\#(2_000 + number)"#)
            }
            var found: [String] = []
            var more = true
            while more {
                let piece = try await service.call(
                    "bucket.export", #"{"bucket":"b1","continue":\#(!found.isEmpty)}"#)
                found += piece["objects"]!.array!.map { $0["_id"]!.string! }
                more = piece["more"]! == .bool(true)
                clock.now = 2_002
            }
            #expect(found == ["o0", "o3"])
        }
    }

    @Test func `Expired objects are removed in the background, also after a restart`()
        async throws
    {
        let clock = TestClock(1_000)
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try await TestService.with(path: path, clock: clock) { service in
                for number in 0..<20 {
                    _ = try await put("o\(number)", expires: "\(2_000 + number)", service)
                }
                clock.now = 2_009
                try await Self.wait(for: 10, in: service)
            }
            try await TestService.with(path: path, clock: clock) { service in
                #expect(try await service.ids().count == 10)
                clock.now = 9_000
                #expect(try await service.ids() == [])
                try await Self.wait(for: 0, in: service)
            }
            let report = try BackendKind.usual.check(path)
            #expect(report.problems == [] && report.objects == 0)
        }
    }

    /// Returns when the store holds so many objects, removed ones not counted.
    private static func wait(for objects: Int, in service: TestService) async throws {
        while try await service.call("server.stats")["objects"] != .int(objects) {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test func `A patch that does not name the time keeps it, null takes it away`() async throws {
        let clock = TestClock(1_000)
        try await TestService.with(clock: clock) { service in
            _ = try await put("o1", expires: "5000", service)
            func patch(_ more: String) async throws -> JSONValue? {
                try await service.call(
                    "object.patch", #"{"bucket":"b1","id":"o1","object":{"m":2}\#(more)}"#)
                return try await service.get("o1")["_expiresAt"]
            }
            #expect(try await service.get("o1")["_expiresAt"] == .int(5_000))
            #expect(try await patch("") == .int(5_000))
            #expect(try await patch(#","expiresAt":6000"#) == .int(6_000))
            #expect(try await patch(#","expiresAt":null"#) == nil)
            #expect(try await patch(#","expiresAt":7e3"#) == .int(7_000))
            _ = try await service.put("o1", "{}")
            #expect(try await service.get("o1")["_expiresAt"] == nil, "a put replaces everything")
        }
    }

    @Test func `A write finds no object that has expired`() async throws {
        let clock = TestClock(1_000)
        try await TestService.with(clock: clock) { service in
            let named = #"{"bucket":"b1","id":"o1""#
            for (method, more, outcome) in [
                ("object.patch", #","object":{}"#, "OBJECT_NOT_FOUND"),
                ("object.delete", "", "OBJECT_NOT_FOUND"),
                ("object.put", #","object":{},"ifVersion":1"#, "OBJECT_NOT_FOUND"),
                ("object.put", #","object":{},"ifAbsent":true"#, "accepted"),
                ("object.put", #","object":{}"#, "accepted"),
            ] {
                _ = try await service.outcome("object.delete", named + "}")
                let time = clock.now
                _ = try await put("o1", expires: "\(time + 10)", service)
                clock.now = time + 10
                #expect(
                    try await service.outcome(method, named + more + "}") == outcome, "\(method)")
                if outcome == "accepted" {
                    #expect(try await service.get("o1")["_version"] == .int(1), "a new object")
                    #expect(try await service.get("o1")["_created"] == .int(Int(time) + 10))
                }
            }
            for method in ["bucket.deleteWhere", "bucket.delete"] {
                _ = try await put("o2", expires: "\(clock.now + 1)", service)
                clock.now += 1
                let more =
                    method == "bucket.delete"
                    ? "" : #","bucketQuery":{"clause":{"type":"eq","field":"n","value":1}}"#
                #expect(
                    try await service.call(method, #"{"bucket":"b1"\#(more)}"#)["deleted"]
                        == .int(method == "bucket.delete" ? 1 : 0), "o1 alone is there")
            }
        }
    }

    @Test func `Every write that stores objects takes a time`() async throws {
        let clock = TestClock(1_000)
        try await TestService.with(clock: clock) { service in
            try await service.call(
                "object.create", #"{"bucket":"b1","object":{},"expiresAt":2000}"#)
            try await service.call(
                "object.putMany", #"{"bucket":"b1","objects":[{},{"_id":"o1"}],"expiresAt":2001}"#)
            #expect(try await service.ids().count == 3)
            clock.now = 2_000
            #expect(try await service.ids().count == 2)
            clock.now = 2_001
            #expect(try await service.ids() == [])
            for bad in ["-1", "1.5", "9007199254740992", "\"soon\"", "true"] {
                #expect(
                    try await service.putOutcome("o1", "{}", more: #","expiresAt":\#(bad)"#)
                        == "INVALID_INPUT_DATA expiresAt", "\(bad)")
            }
            for good in ["0", "9007199254740991"] {
                #expect(
                    try await service.putOutcome("o1", "{}", more: #","expiresAt":\#(good)"#)
                        == "accepted", "\(good)")
            }
        }
    }

    @Test func `A time of expiry that comes back in a document is not stored with it`()
        async throws
    {
        try await TestService.with(clock: TestClock(1_000)) { service in
            _ = try await put("o1", expires: "5000", service)
            let read = try await service.getText("o1")
            _ = try await service.put("o1", read)
            #expect(try await service.get("o1")["_expiresAt"] == nil)
        }
    }
}
