import JSONText
import Objects
import TestSupport
import Testing

/// GROUP, MIN, MAX, SUM and AVG over the wire.
@Suite struct AggregationRules {
    private static let documents = [
        #"{"kind":"a","n":1,"big":9007199254740993}"#, #"{"kind":"a","n":2.5,"big":1}"#,
        #"{"kind":"b","n":1.0,"big":18446744073709551615}"#, #"{"kind":"b","n":"x"}"#,
        #"{"kind":1,"n":null}"#, #"{"kind":1.0}"#, #"{"kind":true}"#, #"{"kind":null}"#,
        #"{"kind":[1]}"#, #"{"kind":{"_type":"point","lat":1,"lon":2}}"#, "{}",
    ]

    private static func withDocuments(
        _ body: @escaping @Sendable (TestService) async throws -> Void
    ) async throws {
        try await TestService.with(clock: TestClock(7)) { service in
            try await service.call(
                "object.putMany",
                #"{"bucket":"b1","objects":[\#(documents.joined(separator: ","))]}"#)
            try await body(service)
        }
    }

    /// The text of `aggregations` in the answer to one aggregation `x`, without its members' braces.
    private static func answer(
        _ members: String, _ service: TestService, clause: String = #"{"type":"all"}"#
    ) async throws -> String {
        let aggregation = #"{\#(members),"putAggregationInto":"x"}"#
        let line = try await service.line(
            #"{"jsonrpc":"2.0","id":1,"method":"bucket.query","params":{"bucket":"b1","bucketQuery":{"clause":\#(clause),"aggregations":[\#(aggregation)]}}}"#
        )
        return try JSONParser.reading(Array(line.utf8)) { view in
            let result = try #require(view["result"], "\(line)")
            #expect(result["results"]?.count == 0)
            return String(decoding: result["aggregations"]!["x"]!.text, as: UTF8.self)
        }
    }

    @Test func `GROUP counts values, orders them by count and value, and says what it leaves out`()
        async throws
    {
        try await Self.withDocuments { service in
            let all = try await Self.answer(#""type":"GROUP","field":"kind""#, service)
            #expect(
                all == #"{"values":[{"value":1,"count":2},{"value":"a","count":2},"#
                    + #"{"value":"b","count":2},{"value":true,"count":1}],"other":2,"without":2}"#)
            let two = try await Self.answer(#""type":"GROUP","field":"kind","limit":2"#, service)
            #expect(
                two == #"{"values":[{"value":1,"count":2},{"value":"a","count":2}],"#
                    + #""other":5,"without":2}"#)
            let clause = #"{"type":"eq","field":"kind","value":"b"}"#
            let one = try await Self.answer(
                #""type":"GROUP","field":"n""#, service, clause: clause)
            #expect(
                one == #"{"values":[{"value":1,"count":1},{"value":"x","count":1}],"#
                    + #""other":0,"without":0}"#)
        }
    }

    @Test(arguments: [
        ("MIN", "n", "1"), ("MAX", "n", "2.5"), ("SUM", "n", "4.5"), ("AVG", "n", "1.5"),
        ("MIN", "big", "1"), ("MAX", "big", "18446744073709551615"),
        ("SUM", "big", "18455751272964292609"), ("AVG", "big", "6151917090988097536"),
        ("MIN", "none", "null"), ("MAX", "none", "null"), ("SUM", "none", "null"),
        ("AVG", "none", "null"), ("SUM", "_version", "11"), ("MAX", "_created", "7"),
    ])
    func `MIN, MAX, SUM and AVG are of the numbers alone, exact or rounded once`(
        _ type: String, _ field: String, _ expected: String
    ) async throws {
        try await Self.withDocuments { service in
            let found = try await Self.answer(
                #""type":"\#(type)","field":"\#(field)""#, service)
            #expect(found == expected)
        }
    }

    @Test func `A bucket that does not exist has no values`() async throws {
        try await TestService.with { service async throws in
            #expect(
                try await Self.answer(#""type":"GROUP","field":"f""#, service)
                    == #"{"values":[],"other":0,"without":0}"#)
            #expect(try await Self.answer(#""type":"SUM","field":"f""#, service) == "null")
        }
    }

    @Test func `An expired object is in no group and no sum`() async throws {
        let clock = TestClock(1_000)
        try await TestService.with(clock: clock) { service in
            for number in 0..<10 {
                try await service.call(
                    "object.put",
                    #"{"bucket":"b1","id":"i\#(number)","object":{"n":\#(number)},"#
                        + #""expiresAt":\#(2_000 + number * 100)}"#)
            }
            #expect(try await Self.answer(#""type":"SUM","field":"n""#, service) == "45")
            clock.now = 2_450
            #expect(try await Self.answer(#""type":"SUM","field":"n""#, service) == "35")
            #expect(try await Self.answer(#""type":"MIN","field":"n""#, service) == "5")
            #expect(
                try await Self.answer(#""type":"GROUP","field":"n","limit":1"#, service)
                    == #"{"values":[{"value":5,"count":1}],"other":4,"without":0}"#)
        }
    }

    @Test func `A sum of decimals beyond binary64 is refused, one of whole numbers is not`()
        async throws
    {
        try await TestService.with { service in
            try await service.call(
                "object.putMany",
                #"{"bucket":"b1","objects":[{"w":1e308,"m":1e308},{"w":1e308,"m":1e308},{"m":0.5}]}"#
            )
            let sum = #""aggregations":[{"type":"SUM","field":"m","putAggregationInto":"s"}]"#
            #expect(
                try await service.queryOutcome(order: sum)
                    == "QUERY_NOT_SUPPORTED bucketQuery.aggregations[0]")
            let whole = try await Self.answer(#""type":"SUM","field":"w""#, service)
            #expect(whole.utf8.count == 309 && whole.hasPrefix("20000000000000000219"))
            let average = try await Self.answer(#""type":"AVG","field":"m""#, service)
            #expect(average == "6.666666666666666e+307")
        }
    }

    @Test func `Groups are refused whose values take more than groupBytes`()
        async throws
    {
        var limits = Limits()
        limits.groupBytes = 1_024
        try await TestService.with(limits: limits) { service in
            let long = String(repeating: "z", count: 600)
            let objects = (0..<20).map { number in
                #"{"_id":"i\#(number)","n":\#(number % 16),"#
                    + #""m":\#(number % 15),"t":"\#(long)"}"#
            }
            try await service.call(
                "object.putMany",
                #"{"bucket":"b1","objects":[\#(objects.joined(separator: ","))]}"#)
            func outcome(_ fields: String...) async throws -> String {
                let list = fields.map {
                    #"{"type":"GROUP","field":"\#($0)","putAggregationInto":"\#($0)"}"#
                }
                return try await service.queryOutcome(
                    order: #""aggregations":[\#(list.joined(separator: ","))]"#)
            }
            // Sixteen values of 64 bytes are just enough, two fields' are too much.
            #expect(try await outcome("n") == "accepted")
            #expect(try await outcome("n", "n2") == "accepted")
            #expect(
                try await outcome("n", "m")
                    == "QUERY_NOT_SUPPORTED bucketQuery.aggregations")
            #expect(try await outcome("t") == "accepted")
            #expect(
                try await outcome("_id") == "QUERY_NOT_SUPPORTED bucketQuery.aggregations")
        }
    }

    @Test func `An answer whose groups pass replyBytes is refused`() async throws {
        var limits = Limits()
        limits.replyBytes = 2_000
        try await TestService.with(limits: limits) { service in
            let objects = (0..<4).map {
                #"{"t":"\#($0)\#(String(repeating: "z", count: 600))"}"#
            }
            try await service.call(
                "object.putMany",
                #"{"bucket":"b1","objects":[\#(objects.joined(separator: ","))]}"#)
            func outcome(_ limit: Int) async throws -> String {
                let group =
                    #"{"type":"GROUP","field":"t","limit":\#(limit),"putAggregationInto":"g"}"#
                return try await service.queryOutcome(order: #""aggregations":[\#(group)]"#)
            }
            #expect(try await outcome(2) == "accepted")
            #expect(try await outcome(3) == "QUERY_NOT_SUPPORTED bucketQuery.aggregations[0]")
        }
    }

    @Test func `bucket.explain plans an aggregation, and bucket.count ignores it`() async throws {
        try await Self.withDocuments { service in
            let params =
                #"{"bucket":"b1","bucketQuery":{"aggregations":[{"type":"SUM","field":"n","putAggregationInto":"s"}]}"#
            let plan = try await service.call("bucket.explain", params + #","analyze":true}"#)
            #expect(plan["accessPath"]?.string == "scan" && plan["order"]?.string == "none")
            #expect(plan["wouldHelp"]?[0]?.string == "n")
            #expect(plan["analyze"]?["documentsRead"]?.int == 11)
            #expect(plan["analyze"]?["matches"]?.int == 11)
            #expect(try await service.call("bucket.count", params + "}")["count"]?.int == 11)
        }
    }
}
