import TestSupport
import Testing

/// Buckets: their names and scopes, and those that are not there.
@Suite struct BucketRules {
    static let longest = "0" + String(repeating: "x", count: 63)

    @Test(arguments: [
        "ab", "0-", "Z_9", "usersx", "user", Self.longest, "users/alice/notes", "groups/g.1/notes",
        "things/t_1-x/notes", "users/a/notes",
    ])
    func `A bucket has a name of 2 to 64 characters, perhaps behind a scope`(_ bucket: String)
        async throws
    {
        try await TestService.with { service in
            _ = try await service.put("o1", #"{"a":1}"#, in: bucket)
            #expect(try await service.get("o1", in: bucket)["a"] == .int(1))
        }
    }

    @Test(arguments: [
        "", "a", Self.longest + "x", "-ab", "_ab", "a.b", "a b", "é1", "a1é", "../x1", "..", "ab/",
        "/ab", "a/b", "users/alice", "users//notes", "users/alice/", "users/../notes",
        "users/./notes", "users/al ice/notes", "users/alice/notes/x1", "devices/d1/notes",
        "Users/alice/notes", "users/alice/n", "users/alice/-x", "users/alice/../x1", "ab\\n",
        "users", "groups", "devices", "installations", "internal", "things",
        "users/alice/things",
    ])
    func `Any other name is refused by every method`(_ bucket: String) async throws {
        let target = #""bucket":"\#(bucket)""#
        let object = #"{\#(target),"id":"o1","object":{}}"#
        let params: KeyValuePairs = [
            "bucket.count": "{\(target)}", "bucket.query": "{\(target)}",
            "bucket.explain": "{\(target)}", "bucket.delete": "{\(target)}",
            "bucket.deleteWhere": #"{\#(target),"bucketQuery":{}}"#,
            "object.create": #"{\#(target),"object":{}}"#, "object.put": object,
            "object.patch": object, "object.get": #"{\#(target),"id":"o1"}"#,
            "object.delete": #"{\#(target),"id":"o1"}"#,
            "object.putMany": #"{\#(target),"objects":[{}]}"#,
        ]
        try await TestService.with { service in
            for (method, params) in params {
                let outcome = try await service.outcome(method, params)
                #expect(outcome == "INVALID_BUCKET bucket", "\(method)")
            }
        }
    }

    @Test func `A bucket has to be named`() async throws {
        try await TestService.with { service in
            for method in ["bucket.query", "bucket.count", "bucket.delete", "object.create"] {
                let missing = try await service.outcome(method, #"{"object":{}}"#)
                #expect(missing == "INVALID_INPUT_DATA bucket")
                let wrong = try await service.outcome(method, #"{"bucket":5,"object":{}}"#)
                #expect(wrong == "INVALID_INPUT_DATA bucket")
            }
        }
    }

    @Test func `The same name exists in every scope independently`() async throws {
        let buckets = [
            "notes", "users/a1/notes", "users/a2/notes", "groups/a1/notes",
            "things/a1/notes",
        ]
        try await TestService.with { service in
            for (number, bucket) in buckets.enumerated() {
                _ = try await service.put("o1", #"{"n":\#(number)}"#, in: bucket)
            }
            for (number, bucket) in buckets.enumerated() {
                #expect(try await service.get("o1", in: bucket)["n"] == .int(number))
                #expect(try await service.count(#"{"type":"all"}"#, in: bucket) == 1)
            }
            try await service.call("bucket.delete", #"{"bucket":"users/a1/notes"}"#)
            for (number, bucket) in buckets.enumerated() {
                let count = try await service.count(#"{"type":"all"}"#, in: bucket)
                #expect(count == (number == 1 ? 0 : 1))
            }
        }
    }

    @Test func `A bucket that does not exist has no objects`() async throws {
        try await TestService.with { service in
            let page = try await service.query()
            #expect(page["results"] == .array([]))
            #expect(page["nextPaginationKey"] == nil)
            #expect(page["queryDescription"]?.string != nil)
            #expect(try await service.count(#"{"type":"all"}"#) == 0)
            let count = #""aggregations":[{"type":"COUNT","putAggregationInto":"n"}]"#
            #expect(try await service.query(order: count)["aggregations"]?["n"] == .int(0))
            let everything = #"{"bucket":"b1","bucketQuery":{}}"#
            #expect(
                try await service.call("bucket.deleteWhere", everything)
                    == .object(["deleted": .int(0)]))
            let named = #"{"bucket":"b1","id":"o1"}"#
            #expect(try await service.outcome("object.get", named) == "OBJECT_NOT_FOUND")
            #expect(try await service.outcome("object.delete", named) == "OBJECT_NOT_FOUND")
            let patch = #"{"bucket":"b1","id":"o1","object":{}}"#
            #expect(try await service.outcome("object.patch", patch) == "OBJECT_NOT_FOUND")
            #expect(
                try await service.putOutcome("o1", "{}", more: #","ifVersion":1"#)
                    == "OBJECT_NOT_FOUND")
            #expect(
                try await service.outcome("bucket.delete", #"{"bucket":"b1"}"#)
                    == "BUCKET_NOT_FOUND bucket")
            #expect(try await service.call("bucket.list")["buckets"] == .array([]))
        }
    }

    @Test func `A bucket is made by its first write, and not by a refused one`() async throws {
        try await TestService.with { service in
            #expect(
                try await service.putOutcome("o1", #"{"_x":1}"#) == "INVALID_INPUT_DATA object._x")
            #expect(try await service.call("bucket.list")["buckets"] == .array([]))
            _ = try await service.put("o1", "{}")
            let list = try await service.call("bucket.list")
            #expect(list["buckets"]?.array?.map { $0["bucket"]?.string } == ["b1"])
        }
    }

    @Test func `A list of buckets tells how many objects and which GeoPoint fields each has`()
        async throws
    {
        try await TestService.with { service in
            try await service.store(
                [
                    "o1": #""location":\#(point(1, 1)),"a":{"b":\#(point(2, 2))}"#,
                    "o2": #""location":\#(point(1, 1)),"l":[\#(point(3, 3))]"#,
                    "o3": #""location":\#(point(1, 1))"#, "o4": "",
                ], in: "shops")
            try await service.store(["o1": #""p":1"#], in: "plain")
            try await service.store(["o1": #""p":\#(point(1, 1))"#], in: "users/a1/notes")
            let plain = #"{"bucket":"plain","objects":1,"geoFields":[]}"#
            func list(_ params: String = "{}") async throws -> String {
                try await service.text("bucket.list", params)
            }
            #expect(
                try await list() == #"{"buckets":[\#(plain),"#
                    + #"{"bucket":"shops","objects":4,"geoFields":["a.b","l","location"],"#
                    + #""place":"location"}]}"#)
            #expect(
                try await list(#"{"scope":"users/a1"}"#)
                    == #"{"buckets":[{"bucket":"users/a1/notes","objects":1,"geoFields":["p"],"#
                    + #""place":"p"}]}"#)
            #expect(try await list(#"{"scope":"groups/a1"}"#) == #"{"buckets":[]}"#)
            try await service.call("object.delete", #"{"bucket":"shops","id":"o1"}"#)
            for id in ["o2", "o3"] { _ = try await service.put(id, "{}", in: "shops") }
            #expect(
                try await list()
                    == #"{"buckets":[\#(plain),{"bucket":"shops","objects":3,"geoFields":[]}]}"#)
        }
    }

    /// "The geo field that most of its objects have, of equals the first by name; it stays the place
    /// until another has more than twice as many."
    @Test func `The place of a bucket changes only by a clear majority`() async throws {
        try await TestService.with { service in
            func place() async throws -> String? {
                let bucket = try await service.call("bucket.list")["buckets"]?.array?.first
                let field = bucket?["place"]?.string
                let clusters = try await service.call(
                    "bucket.clusters", #"{"bucket":"shops","zoom":0,"bits":0}"#)
                let counted = try await service.call(
                    "bucket.count",
                    #"{"bucket":"shops","bucketQuery":{"clause":{"type":"hasField","field":"\#(field ?? "")","fieldType":"GEOPOINT"}}}"#
                )
                #expect(clusters["total"] == counted["count"])
                return field
            }
            func put(_ range: Range<Int>, _ fields: String...) async throws {
                let members = fields.map { #""\#($0)":\#(point(1, 2))"# }.joined(separator: ",")
                for number in range {
                    _ = try await service.put("o\(number)", "{\(members)}", in: "shops")
                }
            }
            try await put(0..<1, "location", "entrance")
            #expect(try await place() == "entrance")
            try await put(1..<2, "location")
            #expect(try await place() == "entrance")
            try await put(2..<3, "location")
            #expect(try await place() == "location")
            try await put(3..<9, "area")
            #expect(try await place() == "location")
            try await put(9..<10, "area")
            #expect(try await place() == "area")
            for number in 3..<8 {
                try await service.call(
                    "object.delete", #"{"bucket":"shops","id":"o\#(number)"}"#)
            }
            #expect(try await place() == "area")
            _ = try await service.put("o8", "{}", in: "shops")
            #expect(try await place() == "location")
        }
    }

    @Test(arguments: ["", "users", "users/", "users/a1/notes", "devices/d1", "users/..", "a1/b1"])
    func `What is no scope is refused`(_ scope: String) async throws {
        try await TestService.with { service in
            let outcome = try await service.outcome("bucket.list", #"{"scope":"\#(scope)"}"#)
            #expect(outcome == "INVALID_BUCKET scope")
        }
    }

    @Test(arguments: [
        #""orderBy":"n""#, #""orderBy":"_calculated.nowhere","descending":true"#, #""orderBy":[]"#,
        #""orderBy":5,"descending":"up""#, #""aggregations":[{"type":"MEDIAN"}]"#,
        #""aggregations":7,"orderBy":null"#,
    ])
    func `A count and a deletion ignore an order and aggregations, whatever they are`(
        ignored: String
    ) async throws {
        try await TestService.with { service in
            try await service.store((0..<5).map { ("o\($0)", #""n":\#($0)"#) })
            let params =
                #"{"bucket":"b1","bucketQuery":{"clause":{"type":"range","field":"n","lowerLimit":2},\#(ignored)}}"#
            #expect(try await service.call("bucket.count", params)["count"] == .int(3))
            #expect(try await service.call("bucket.deleteWhere", params)["deleted"] == .int(3))
            #expect(try await service.ids() == ["o0", "o1"])
            let unknown = params.replacing(ignored, with: #""order":"n""#)
            for method in ["bucket.count", "bucket.deleteWhere"] {
                #expect(
                    try await service.outcome(method, unknown)
                        == "INVALID_INPUT_DATA bucketQuery.order")
            }
        }
    }
}
