import Objects
import TestSupport
import Testing

/// Pages: how many objects they have, how they go on, and what they hold.
@Suite struct PageRules {
    static func numbered(_ count: Int) -> [(String, String)] {
        (0..<count).map { ("i\($0)", "\"n\":\($0),\"m\":\($0 % 3)") }
    }

    /// Every page of a query, following the keys.
    static func pages(
        _ service: TestService, _ clause: String = #"{"type":"all"}"#, order: String = "",
        limit: Int, more: String = "", in bucket: String = "b1"
    ) async throws -> [JSONValue] {
        var pages: [JSONValue] = []
        var key: String?
        repeat {
            var params = "\"bestEffortLimit\":\(limit)" + more
            if let key { params += ",\"paginationKey\":\"\(key)\"" }
            let page = try await service.query(clause, order: order, more: params, in: bucket)
            pages.append(page)
            key = page.nextPaginationKey
        } while key != nil && pages.count < 1_000
        return pages
    }

    static let orders = [
        "", #""orderBy":"m""#, #""orderBy":"m","descending":true"#, #""orderBy":"absent""#,
        #""orderBy":[{"field":"m","descending":true},{"field":"n"}]"#,
        #""orderBy":"_calculated.d""#, #""orderBy":"_calculated.d","descending":true"#,
    ]
    /// True for every object; those whose `m` is 2 have no place.
    static let clause =
        #"{"type":"or","clauses":[{"type":"all"},{"type":"geodistance","field":"p","center":\#(point(0, 0)),"putDistanceInto":"d"}]}"#
    static let near =
        #"{"type":"geodistance","field":"p","center":\#(point(0, 0)),"putDistanceInto":"d"}"#

    static func placed(_ count: Int) -> [(String, String)] {
        numbered(count).enumerated().map { index, object in
            let place = index % 3 == 2 ? "" : ",\"p\":\(point(Double(index / 7), 0))"
            return (object.0, object.1 + place)
        }
    }

    @Test(arguments: [1, 2, 3, 7, 19, 20, 21])
    func `Pages have exactly their limit and together everything once, in order`(_ limit: Int)
        async throws
    {
        try await TestService.with { service in
            try await service.store(Self.placed(20))
            for order in Self.orders {
                for clause in [Self.clause, Self.near] {
                    let whole = try await service.ids(clause, order: order)
                    let pages = try await Self.pages(service, clause, order: order, limit: limit)
                    #expect(pages.flatMap(\.ids) == whole, "\(order)")
                    #expect(pages.dropLast().allSatisfy { $0.ids.count == limit }, "\(order)")
                    #expect(pages.count == (whole.count + limit - 1) / limit, "\(order)")
                }
            }
        }
    }

    @Test(arguments: ["", #","model":"wgs84""#])
    func `Objects at one place follow each other in the order of creation, over all pages`(
        model: String
    ) async throws {
        try await TestService.with { service in
            func object(_ number: Int, _ place: String) -> (String, String) {
                ("i\(number)", "\"n\":\(number),\"m\":\(number % 3),\"p\":\(place)")
            }
            try await service.store((0..<1_500).map { object($0, point(0, 0)) })
            // Some move away, some are deleted, some come later, some have another place too.
            try await service.store((0..<300).map { object($0 * 3, point(1, 1)) })
            let even = #"{"type":"range","field":"n","lowerLimit":1000,"upperLimit":1099}"#
            _ = try await service.call(
                "bucket.deleteWhere", #"{"bucket":"b1","bucketQuery":{"clause":\#(even)}}"#)
            try await service.store(
                (1_500..<2_000).map { object($0, "[\(point(9, 9)),\(point(0, 0))]") })
            let here = (0..<2_000).filter {
                !(1_000...1_099).contains($0) && !($0 < 900 && $0 % 3 == 0)
            }
            let near =
                #"{"type":"geodistance","field":"p","center":\#(point(0, 0)),"radius":1000,"putDistanceInto":"d"\#(model)}"#
            let odd = #"{"type":"and","clauses":[\#(near),{"type":"eq","field":"m","value":1}]}"#
            for (clause, expected) in [(near, here), (odd, here.filter { $0 % 3 == 1 })] {
                let pages = try await Self.pages(
                    service, clause, order: #""orderBy":"_calculated.d""#, limit: 50)
                #expect(pages.flatMap(\.ids) == expected.map { "i\($0)" })
            }
        }
    }

    @Test func `A page key is given if and only if at least one more object matches`()
        async throws
    {
        try await TestService.with { service in
            try await service.store(Self.numbered(10))
            let below4 = #"{"type":"range","field":"n","upperLimit":3}"#
            for order in ["", #""orderBy":"m""#] {
                for (limit, hasMore) in [(3, true), (4, false), (5, false)] {
                    let page = try await service.query(
                        below4, order: order, more: "\"bestEffortLimit\":\(limit)")
                    #expect((page.nextPaginationKey != nil) == hasMore, "\(limit)")
                    #expect(page.names.contains("nextPaginationKey") == hasMore)
                }
            }
        }
    }

    @Test func `An absent limit, 0 and those above the server's are the server's`() async throws {
        try await TestService.with { service in
            try await service.store(Self.numbered(201))
            for limit in [
                "", #""bestEffortLimit":0"#, #""bestEffortLimit":200"#, #""bestEffortLimit":201"#,
                #""bestEffortLimit":"0""#, #""bestEffortLimit":"1000""#,
                #""bestEffortLimit":18446744073709551615"#, #""bestEffortLimit":1e300"#,
                #""bestEffortLimit":"99999999999999999999999""#,
            ] {
                let page = try await service.query(more: limit)
                #expect(page.ids.count == 200, "\(limit)")
                #expect(page.nextPaginationKey != nil)
            }
            for (limit, count) in [
                ("1", 1), ("199", 199), (#""7""#, 7), (#""007""#, 7), ("2.0", 2),
            ] {
                let page = try await service.query(more: "\"bestEffortLimit\":\(limit)")
                #expect(page.ids.count == count, "\(limit)")
            }
            for limit in ["-1", "1.5", "null", "true", #""""#, #""-1""#, #""a""#, #""1.0""#, "[]"] {
                #expect(
                    try await service.queryOutcome(more: "\"bestEffortLimit\":\(limit)")
                        == "INVALID_INPUT_DATA bestEffortLimit", "\(limit)")
            }
        }
    }

    @Test func `The server's page limit is configurable`() async throws {
        var limits = Limits()
        limits.pageObjects = 3
        try await TestService.with(limits: limits) { service in
            try await service.store(Self.numbered(5))
            for limit in ["", #""bestEffortLimit":4"#] {
                #expect(try await service.ids(more: limit) == ["i0", "i1", "i2"])
            }
            let info = try await service.call("server.info")
            #expect(info["limits"]?["pageObjects"] == .int(3))
        }
    }

    @Test func `COUNT answers a number under each name and no objects`() async throws {
        func counting(_ names: String...) -> String {
            let entries = names.map { #"{"type":"COUNT","putAggregationInto":"\#($0)"}"# }
            return #""aggregations":[\#(entries.joined(separator: ","))]"#
        }
        let (one, two) = (counting("n"), counting("n", "_m2"))
        try await TestService.with { service in
            try await service.store(Self.numbered(10))
            let clause = #"{"type":"eq","field":"m","value":0}"#
            let answer = try await service.query(clause, order: one, more: #""bestEffortLimit":1"#)
            #expect(answer["results"] == .array([]))
            #expect(answer["aggregations"] == .object(["n": .int(4)]))
            #expect(answer["nextPaginationKey"] == nil)
            #expect(answer["queryDescription"]?.string != nil)
            let both = try await service.query(order: two)
            #expect(both["aggregations"] == .object(["n": .int(10), "_m2": .int(10)]))
            let key = try #require(
                try await service.query(more: #""bestEffortLimit":1"#).nextPaginationKey)
            #expect(
                try await service.queryOutcome(order: one, more: #""paginationKey":"\#(key)""#)
                    == "QUERY_NOT_SUPPORTED paginationKey")
            #expect(try await service.query(order: #""aggregations":[]"#).ids.count == 10)
        }
    }

    @Test func `fields chooses first-level names, ids and distances come always`() async throws {
        let clock = TestClock(7)
        try await TestService.with(clock: clock) { service in
            try await service.store([
                "o1": #""a":1.0,"b":{"c":1},"d.e":2,"p":\#(point(0, 0))"#, "o2": #""b":null"#,
            ])
            func page(_ fields: String, _ clause: String = #"{"type":"all"}"#) async throws
                -> String
            {
                let text = try await service.text(
                    "bucket.query", queryParams(clause, "", "\"fields\":\(fields)", "b1"))
                return String(text.drop { $0 != "[" })
            }
            #expect(try await page("[]") == #"[{"_id":"o1"},{"_id":"o2"}]}"#)
            #expect(try await page(#"["a"]"#) == #"[{"_id":"o1","a":1.0},{"_id":"o2"}]}"#)
            #expect(
                try await page(#"["b","a","b","nope"]"#)
                    == #"[{"_id":"o1","a":1.0,"b":{"c":1}},{"_id":"o2","b":null}]}"#)
            #expect(
                try await page(#"["b.c","d.e"]"#) == #"[{"_id":"o1","d.e":2},{"_id":"o2"}]}"#)
            #expect(
                try await page(#"["_id","_version","_created"]"#)
                    == #"[{"_id":"o1","_created":7,"_version":1},{"_id":"o2","_created":7,"_version":1}]}"#
            )
            #expect(try await page("[]", Self.near) == #"[{"_id":"o1","_calculated":{"d":0.0}}]}"#)
            for (fields, path) in [
                ("null", ""), (#""a""#, ""), ("{}", ""), ("[1]", "[0]"), (#"["a",null]"#, "[1]"),
            ] {
                #expect(
                    try await service.queryOutcome(more: "\"fields\":\(fields)")
                        == "INVALID_INPUT_DATA fields\(path)")
            }
        }
    }
}
