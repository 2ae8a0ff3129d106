import Objects
import TestSupport
import Testing

/// Page keys: what they are good for, and that pages are stable.
@Suite struct PageKeyRules {
    private static func firstKey(
        _ service: TestService, _ clause: String = #"{"type":"all"}"#, order: String = "",
        limit: Int = 2
    ) async throws -> String {
        let page = try await service.query(
            clause, order: order, more: "\"bestEffortLimit\":\(limit)")
        return try #require(page.nextPaginationKey)
    }

    private static func with(_ key: String, _ more: String = "") -> String {
        "\"paginationKey\":\"\(key)\"\(more)"
    }

    @Test func `A key goes on under another limit and other fields`() async throws {
        try await TestService.with { service in
            try await service.store(PageRules.numbered(10))
            for order in ["", #""orderBy":"n""#] {
                let key = try await Self.firstKey(service, order: order)
                for (more, count) in [
                    ("", 8), (#","bestEffortLimit":5"#, 5), (#","bestEffortLimit":"1""#, 1),
                    (#","fields":[]"#, 8), (#","fields":["n"],"bestEffortLimit":3"#, 3),
                ] {
                    let ids = try await service.ids(order: order, more: Self.with(key, more))
                    #expect(ids == (2..<2 + count).map { "i\($0)" })
                }
            }
        }
    }

    @Test func `A key of another clause, order or bucket is refused`() async throws {
        try await TestService.with { service in
            try await service.store(PageRules.placed(10))
            try await service.store(PageRules.placed(10), in: "b2")
            let all = #"{"type":"all"}"#
            let queries = [
                (all, "", "b1"), (all, #""orderBy":"n""#, "b1"), (all, #""orderBy":"m""#, "b1"),
                (all, #""orderBy":"n","descending":true"#, "b1"), (all, "", "b2"),
                (all, #""orderBy":[{"field":"n"},{"field":"m"}]"#, "b1"),
                (#"{"type":"hasField","field":"n"}"#, "", "b1"), (PageRules.near, "", "b1"),
                (#"{"type":"range","field":"n","lowerLimit":0}"#, "", "b1"),
                (#"{"type":"range","field":"n","lowerLimit":0,"lowerIncluded":false}"#, "", "b1"),
                (#"{"type":"range","field":"n","upperLimit":9}"#, "", "b1"),
                (PageRules.near, #""orderBy":"_calculated.d""#, "b1"),
            ]
            for (owner, from) in queries.enumerated() {
                let page = try await service.query(
                    from.0, order: from.1, more: #""bestEffortLimit":2"#, in: from.2)
                let key = try #require(page.nextPaginationKey)
                for (user, to) in queries.enumerated() {
                    let outcome = try await service.queryOutcome(
                        to.0, order: to.1, more: Self.with(key), in: to.2)
                    let expected =
                        owner == user ? "accepted" : "INVALID_INPUT_DATA paginationKey"
                    #expect(outcome == expected, "\(from) \(to)")
                }
            }
        }
    }

    @Test func `A tampered key is refused, whichever of its characters is another`() async throws {
        try await TestService.with { service in
            try await service.store(PageRules.numbered(5))
            let order = #""orderBy":"n""#
            let key = try await Self.firstKey(service, order: order)
            var forgeries = [
                "", "x", "é", key + "A", key + "=", String(key.dropLast()), String(key.dropFirst()),
                key + key, " " + key,
            ]
            let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
            for index in key.indices {
                // The last character may hold bits that stand for nothing: each has to count.
                let isLast = key.index(after: index) == key.endIndex
                for other in isLast ? alphabet : "AB_" where key[index] != other {
                    forgeries.append(
                        key[..<index] + String(other) + key[key.index(after: index)...])
                }
            }
            for forgery in forgeries {
                #expect(
                    try await service.queryOutcome(order: order, more: Self.with(forgery))
                        == "INVALID_INPUT_DATA paginationKey")
            }
            for other in ["null", "5", "{}"] {
                #expect(
                    try await service.queryOutcome(order: order, more: "\"paginationKey\":\(other)")
                        == "INVALID_INPUT_DATA paginationKey")
            }
            #expect(
                try await service.ids(order: order, more: Self.with(key)) == ["i2", "i3", "i4"])
        }
    }

    @Test func `A key works although its object has been changed or deleted since`() async throws {
        try await TestService.with { service in
            for order in PageRules.orders {
                try await service.store(PageRules.placed(20))
                let whole = try await service.ids(PageRules.clause, order: order)
                for change in ["object.put", "object.delete"] {
                    let page = try await service.query(
                        PageRules.clause, order: order, more: #""bestEffortLimit":5"#)
                    let key = try #require(page.nextPaginationKey)
                    let object = change == "object.put" ? #","object":{"n":-99,"m":99}"# : ""
                    try await service.call(
                        change, #"{"bucket":"b1","id":"\#(page.ids[4])"\#(object)}"#)
                    let rest = try await service.ids(
                        PageRules.clause, order: order, more: Self.with(key))
                    // Changed, the object may come once more at its new place; nothing else moves.
                    let unchanged = rest.filter { $0 != page.ids[4] }
                    #expect(unchanged == whole.filter { !page.ids.contains($0) }, "\(order)")
                    try await service.call("bucket.delete", #"{"bucket":"b1"}"#)
                    try await service.store(PageRules.placed(20))
                }
                try await service.call("bucket.delete", #"{"bucket":"b1"}"#)
            }
        }
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `Objects that are not changed between pages appear exactly once, whatever is written`(
        _ seed: UInt64
    ) async throws {
        try await TestService.with { service in
            for (round, order) in PageRules.orders.enumerated() {
                let bucket = "bucket\(round)"
                var random = SplitMix64(seed: seed &* 100 &+ UInt64(round))
                try await service.store(PageRules.placed(150), in: bucket)
                let before = try await service.ids(PageRules.clause, order: order, in: bucket)
                var (seen, touched) = ([String](), Set<String>())
                var key: String?
                repeat {
                    var more = "\"bestEffortLimit\":\(1 + random.below(20))"
                    if let key { more += "," + Self.with(key) }
                    let page = try await service.query(
                        PageRules.clause, order: order, more: more, in: bucket)
                    seen += page.ids
                    key = page.nextPaginationKey
                    for _ in 0..<6 {
                        let id = "i\(random.below(170))"
                        touched.insert(id)
                        let target = #""bucket":"\#(bucket)","id":"\#(id)""#
                        if random.below(2) == 0 {
                            _ = try await service.error("object.delete", "{\(target)}")
                        } else {
                            let n = random.below(200)
                            let object =
                                #"{"n":\#(n),"m":\#(n % 3),"p":\#(point(Double(n % 50), 1))}"#
                            try await service.call(
                                "object.put", #"{\#(target),"object":\#(object)}"#)
                        }
                    }
                } while key != nil && seen.count < 5_000
                let unchanged = before.filter { !touched.contains($0) }
                #expect(
                    seen.filter { !touched.contains($0) } == unchanged, "\(order) seed \(seed)")
            }
        }
    }

    @Test func `A key survives a restart of the service`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let keys = try await TestService.with(path: path) { service in
                try await service.store(PageRules.placed(20))
                var keys: [String] = []
                for order in PageRules.orders {
                    keys.append(
                        try await Self.firstKey(service, PageRules.clause, order: order, limit: 7))
                }
                return keys
            }
            try await TestService.with(path: path) { service in
                for (order, key) in zip(PageRules.orders, keys) {
                    let whole = try await service.ids(PageRules.clause, order: order)
                    let rest = try await service.ids(
                        PageRules.clause, order: order, more: Self.with(key))
                    #expect(rest == Array(whole[7...]), "\(order)")
                }
            }
        }
    }

    @Test func `A key of one store is no key of another`() async throws {
        let key = try await TestService.with { service in
            try await service.store(PageRules.numbered(5))
            return try await Self.firstKey(service)
        }
        try await TestService.with { service in
            try await service.store(PageRules.numbered(5))
            #expect(
                try await service.queryOutcome(more: Self.with(key))
                    == "INVALID_INPUT_DATA paginationKey")
        }
    }

    @Test func `A key outlives its bucket`() async throws {
        try await TestService.with { service in
            try await service.store(PageRules.numbered(5))
            let key = try await Self.firstKey(service)
            try await service.call("bucket.delete", #"{"bucket":"b1"}"#)
            #expect(try await service.ids(more: Self.with(key)) == [])
            try await service.store(PageRules.numbered(2))
            #expect(try await service.ids(more: Self.with(key)) == ["i0", "i1"])
        }
    }
}
