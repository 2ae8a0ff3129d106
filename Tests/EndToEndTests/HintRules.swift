import GeoBucketClient
import JSONText
import TestSupport
import Testing

/// `"hints":true`: why a query or a count found nothing.
@Suite struct HintRules {
    private static func eq(_ field: String, _ value: String) -> String {
        #"{"type":"eq","field":"\#(field)","value":\#(value)}"#
    }

    private static func params(
        _ clause: String, bucket: String = "shops", more: String = ""
    ) -> String {
        #"{"bucket":"\#(bucket)","bucketQuery":{"clause":\#(clause)},"hints":true\#(more)}"#
    }

    private static func withShops(
        _ body: @escaping @Sendable (TestService) async throws -> Void
    ) async throws {
        try await TestService.with { service in
            try await service.store(
                [
                    "s1": #""kind":"kiosk","rating":"good","position":\#(point(1, 2))"#,
                    "s2": #""kind":"shop","n":1"#,
                ], in: "shops")
            try await body(service)
        }
    }

    @Test func `A query and a count that find nothing tell why, in the same words`() async throws {
        try await Self.withShops { service in
            let near =
                #"{"type":"geodistance","field":"location","center":\#(point(0, 0)),"radius":9}"#
            for (clause, hint) in [
                (
                    Self.eq("raiting", "1"),
                    #"{"code":"NO_SUCH_FIELD","message":"no object has the field \"raiting\"; the nearest is \"rating\"","nearest":"rating"}"#
                ),
                (
                    Self.eq("rating", "1"),
                    #"{"code":"OTHER_TYPES","message":"the field \"rating\" holds texts, and is compared with numbers"}"#
                ),
                (
                    near,
                    #"{"code":"NO_PLACE","message":"no object has a GeoPoint at \"location\"; there are some at \"position\"","nearest":"position"}"#
                ),
            ] {
                let params = Self.params(clause)
                let count = try await service.text("bucket.count", params)
                #expect(count == #"{"count":0,"hints":[\#(hint)]}"#)
                let query = try await service.text("bucket.query", params)
                #expect(query.hasSuffix(#""results":[],"hints":[\#(hint)]}"#), "\(query)")
            }
        }
    }

    @Test func `A bucket that does not exist is told with the nearest one`() async throws {
        try await Self.withShops { service in
            let count = try await service.text(
                "bucket.count", #"{"bucket":"shosp","hints":true}"#)
            #expect(
                count
                    == #"{"count":0,"hints":[{"code":"NO_SUCH_BUCKET","message":"there is no bucket \"shosp\"; the nearest is \"shops\"","nearest":"shops"}]}"#
            )
            let other = try await service.text(
                "bucket.count", #"{"bucket":"harbours","hints":true}"#)
            #expect(other.contains(#"there is no bucket \"harbours\""}]"#), "\(other)")
        }
    }

    @Test func `Aggregations of nothing have hints too`() async throws {
        try await Self.withShops { service in
            let aggregation =
                #""aggregations":[{"type":"MAX","field":"n","putAggregationInto":"m"}]"#
            let text = try await service.text(
                "bucket.query",
                #"{"bucket":"shops","bucketQuery":{"clause":\#(Self.eq("gone", "1")),\#(aggregation)},"hints":true}"#
            )
            #expect(text.contains(#""aggregations":{"m":null},"hints":[{"code":"NO_SUCH_FIELD""#))
        }
    }

    @Test func `There are none unless they are wanted, nothing is found and a reason is known`()
        async throws
    {
        try await Self.withShops { service in
            let unasked = #"{"bucket":"shops","bucketQuery":{"clause":\#(Self.eq("gone", "1"))}}"#
            for (method, params) in [
                ("bucket.count", unasked), ("bucket.query", unasked),
                ("bucket.count", Self.params(Self.eq("kind", "\"shop\""))),
                ("bucket.query", Self.params(Self.eq("kind", "\"shop\""))),
                ("bucket.count", Self.params(Self.eq("kind", "\"mall\""))),
                ("bucket.query", Self.params(Self.eq("kind", "\"mall\""))),
            ] {
                let text = try await service.text(method, params)
                #expect(!text.contains("hints"), "\(params): \(text)")
            }
            #expect(
                try await service.outcome("bucket.count", #"{"bucket":"shops","hints":1}"#)
                    == "INVALID_INPUT_DATA hints")
        }
    }

    @Test func `An empty page behind the last object has no hints`() async throws {
        try await TestService.with { service in
            try await service.store(["o1": #""n":1"#, "o2": #""n":2"#])
            let first = try await service.query(more: #""bestEffortLimit":1,"hints":true"#)
            let key = try #require(first["nextPaginationKey"]?.string)
            try await service.call("bucket.deleteWhere", #"{"bucket":"b1","bucketQuery":{}}"#)
            let text = try await service.text(
                "bucket.query", #"{"bucket":"b1","paginationKey":"\#(key)","hints":true}"#)
            #expect(text.contains(#""results":[]"#) && !text.contains("hints"), "\(text)")
        }
    }

    @Test func `Of many objects a bounded number is looked at, which the hint tells`() async throws
    {
        try await TestService.with { service in
            for part in 0..<11 {
                let objects = (0..<1_000).map { #"{"n":\#(part * 1_000 + $0)}"# }
                try await service.call(
                    "object.putMany",
                    #"{"bucket":"b1","objects":[\#(objects.joined(separator: ","))]}"#)
            }
            let text = try await service.text(
                "bucket.count", Self.params(Self.eq("gone", "1"), bucket: "b1"))
            #expect(
                text.contains(#"none of 5500 objects looked at has the field \"gone\""#), "\(text)")
        }
    }

    @Test func `Expired objects are not looked at`() async throws {
        let clock = TestClock()
        let now: @Sendable () -> Int64 = { clock.now }
        try await TestService.with(now: now) { service in
            _ = try await service.put("o1", #"{"old":1}"#, more: ",\"expiresAt\":\(clock.now + 9)")
            _ = try await service.put("o2", #"{"new":1}"#)
            clock.advance(10)
            let text = try await service.text(
                "bucket.count", Self.params(Self.eq("old", "1"), bucket: "b1"))
            #expect(text.contains("NO_SUCH_FIELD"), "\(text)")
        }
    }

    @Test func `A bucket that the caller may not read is not named`() async throws {
        try await LoginRules.with { guarded in
            func hint(as name: String) async throws -> String {
                try await LineConnection.with(host: "127.0.0.1", port: guarded.service.port) {
                    connection in
                    try await connection.logIn(token: guarded.tokens[name]!.text)
                    let answer = try await connection.call(
                        "bucket.count", Array(#"{"bucket":"shops","hints":true}"#.utf8))
                    return String(decoding: answer, as: UTF8.self)
                }
            }
            let put = #"{"bucket":"shop","id":"o1","object":{}}"#
            #expect(try await guarded.outcomes(as: "writer", [("object.put", put)]) == ["accepted"])
            #expect(try await hint(as: "reader").contains(#""nearest":"shop"}"#))
            let narrow = try await hint(as: "narrow")
            #expect(narrow.contains("NO_SUCH_BUCKET") && !narrow.contains("nearest"), "\(narrow)")
        }
    }
}
