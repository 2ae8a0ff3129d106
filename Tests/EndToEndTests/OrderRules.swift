import TestSupport
import Testing

/// The order of results.
@Suite struct OrderRules {
    /// Values of a field, ascending; those of one row are equal.
    static let ascending: [[String]] = [
        ["null"], ["false"], ["true"], ["-1e300"], ["-9223372036854775808"],
        ["-9223372036854775807"], ["-1.5"], ["-1", "-1.0"], ["0", "-0.0", "0e5"], ["1e-300"],
        ["1", "1.0", "10e-1"], ["1.5"], ["9007199254740992", "9007199254740992.0"],
        ["9007199254740993"], ["9007199254740994", "9007199254740994.0"],
        ["9223372036854775807"], ["9223372036854775808"], ["18446744073709551615"],
        ["18446744073709551616"], ["1e300"], [#""""#], [#""\u0000""#], [#""A""#], [#""a""#],
        [#""a\u0000""#], [#""aa""#], [#""b""#], [#""\uffff""#], [#""😀""#],
        [point(-90, 0)], [point(1, -180), point(1, 180)], [point(1, 5)], [point(2, -5)],
        [point(2, 179)], ["[]", "{}", "[1]", #"{"a":1}"#],
    ]

    /// One object for each value, stored in a shuffled order; then two without the field.
    private static func shuffled(seed: UInt64) -> [(id: String, members: String)] {
        var random = SplitMix64(seed: seed)
        var objects = ascending.enumerated().flatMap { row, values in
            values.enumerated().map { (id: "r\(row).\($0)", members: "\"f\":\($1)") }
        }
        objects += [(id: "missing1", members: ""), (id: "missing2", members: "")]
        objects.shuffle(using: &random)
        return objects
    }

    /// The ids as the rule says: rows in their direction, ties and the missing by creation.
    private static func expected(
        _ objects: [(id: String, members: String)], descending: Bool
    ) -> [String] {
        let rows = descending ? Array(ascending.indices.reversed()) : Array(ascending.indices)
        return rows.flatMap { row in
            objects.map(\.id).filter { $0.hasPrefix("r\(row).") }
        } + objects.map(\.id).filter { $0.hasPrefix("missing") }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `Values order by type and value, ties by creation, the missing last in both directions`(
        _ seed: UInt64
    ) async throws {
        let objects = Self.shuffled(seed: seed)
        try await TestService.with { service async throws in
            try await service.store(objects.map { ($0.id, $0.members) })
            for (order, descending) in [
                (#""orderBy":"f""#, false), (#""orderBy":"f","descending":false"#, false),
                (#""orderBy":"f","descending":true"#, true),
                (#""orderBy":[{"field":"f"}]"#, false),
                (#""orderBy":[{"field":"f","descending":true}]"#, true),
                (#""orderBy":[{"field":"f"}],"descending":true"#, false),
            ] {
                let expected = Self.expected(objects, descending: descending)
                #expect(try await service.ids(order: order) == expected, "\(order) seed \(seed)")
            }
        }
    }

    @Test func `Without an order objects come by creation, whatever descending says`()
        async throws
    {
        let objects = Self.shuffled(seed: 9)
        try await TestService.with { service in
            try await service.store(objects.map { ($0.id, $0.members) })
            for order in ["", #""descending":true"#] {
                #expect(try await service.ids(order: order) == objects.map(\.id))
            }
        }
    }

    @Test func `A replaced object keeps its place, one deleted and created anew goes last`()
        async throws
    {
        try await TestService.with { service in
            try await service.store(["o1": #""f":1"#, "o2": #""f":1"#, "o3": #""f":1"#])
            _ = try await service.put("o1", #"{"f":1,"g":2}"#)
            try await service.call("object.patch", #"{"bucket":"b1","id":"o2","object":{"h":1}}"#)
            for order in ["", #""orderBy":"f""#, #""orderBy":"f","descending":true"#] {
                #expect(try await service.ids(order: order) == ["o1", "o2", "o3"])
            }
            try await service.call("object.delete", #"{"bucket":"b1","id":"o1"}"#)
            _ = try await service.put("o1", #"{"f":1}"#)
            for order in ["", #""orderBy":"f""#, #""orderBy":"f","descending":true"#] {
                #expect(try await service.ids(order: order) == ["o2", "o3", "o1"])
            }
        }
    }

    @Test func `Several keys order one after the other, each in its direction`() async throws {
        let values = ["1", "2", #""a""#, "null", ""]
        var objects: [(id: String, a: Int, b: Int)] = []
        for a in values.indices {
            for b in values.indices { objects.append(("a\(a)b\(b)", a, b)) }
        }
        var random = SplitMix64(seed: 3)
        objects.shuffle(using: &random)
        // null, numbers, strings; the missing is last in both directions.
        @Sendable func rank(_ value: Int, _ descending: Bool) -> Int {
            let rank = [1, 2, 3, 0, 9][value]
            return descending && rank != 9 ? -rank : rank
        }
        try await TestService.with { [objects] service in
            try await service.store(
                objects.map { object in
                    let members = [("a", object.a), ("b", object.b)].compactMap { name, value in
                        values[value].isEmpty ? nil : "\"\(name)\":\(values[value])"
                    }
                    return (object.id, members.joined(separator: ","))
                })
            for (first, second) in [(false, false), (false, true), (true, false), (true, true)] {
                let expected = objects.enumerated().sorted { x, y in
                    let left = [rank(x.1.a, first), rank(x.1.b, second), x.0]
                    return left.lexicographicallyPrecedes([
                        rank(y.1.a, first), rank(y.1.b, second), y.0,
                    ])
                }
                let order =
                    #""orderBy":[{"field":"a","descending":\#(first)},{"field":"b","descending":\#(second)}]"#
                #expect(try await service.ids(order: order) == expected.map(\.1.id))
            }
        }
    }

    @Test func `Predefined fields and nested fields may stand in the order`() async throws {
        let clock = TestClock(1_000)
        try await TestService.with(clock: clock) { service in
            for (time, id, n) in [(3_000, "o2", 1), (1_000, "o3", 2), (2_000, "o1", 0)] {
                clock.now = Int64(time)
                _ = try await service.put(id, #"{"a":{"n":\#(n)}}"#)
            }
            _ = try await service.put("o3", #"{"a":{"n":2}}"#)
            for (field, ids) in [
                ("_id", ["o1", "o2", "o3"]), ("_created", ["o3", "o1", "o2"]),
                ("_modified", ["o3", "o1", "o2"]), ("_version", ["o2", "o1", "o3"]),
                ("a.n", ["o1", "o2", "o3"]),
            ] {
                #expect(try await service.ids(order: #""orderBy":"\#(field)""#) == ids, "\(field)")
            }
        }
    }

    @Test(arguments: [
        ("_calculated", #""_calculated" alone names no distance; expected "_calculated.d""#),
        ("_calculated.", #""_calculated" alone names no distance; expected "_calculated.d""#),
        ("_calculated.e", #"no clause puts a distance into "e"; expected "_calculated.d""#),
    ])
    func `An order by a distance that there is not says what there is`(
        _ field: String, _ sentence: String
    ) async throws {
        try await TestService.with { service in
            let near =
                #"{"type":"geodistance","field":"p","center":\#(point(0, 0)),"putDistanceInto":"d"}"#
            #expect(try await Self.refusal(of: field, near, service) == sentence)
            let told = try await Self.refusal(of: field, #"{"type":"all"}"#, service)
            let who =
                #"a "geodistance" does with "putDistanceInto", a "geocorridor" with "putAlongInto" too"#
            #expect(told.hasSuffix("; " + who), "\(told)")
        }
    }

    private static func refusal(
        of field: String, _ clause: String, _ service: TestService
    ) async throws -> String {
        try await service.error(
            "bucket.query",
            #"{"bucket":"b1","bucketQuery":{"clause":\#(clause),"orderBy":"\#(field)"}}"#
        )?.message ?? "answered"
    }

    @Test(arguments: [
        (#""orderBy":null"#, "orderBy"), (#""orderBy":5"#, "orderBy"),
        (#""orderBy":{}"#, "orderBy"),
        (#""orderBy":[]"#, "orderBy"), (#""orderBy":["f"]"#, "orderBy[0]"),
        (#""orderBy":[{"field":"f"},{}]"#, "orderBy[1].field"),
        (#""orderBy":[{"field":1}]"#, "orderBy[0].field"),
        (#""orderBy":[{"field":"f","descending":"x"}]"#, "orderBy[0].descending"),
        (#""orderBy":[{"field":"f","desc":true}]"#, "orderBy[0].desc"),
        (#""orderBy":"f","descending":1"#, "descending"),
        (#""orderBy":"f","descending":null"#, "descending"),
        (#""orderBy":"_calculated.d""#, "orderBy"), (#""orderBy":"_calculated""#, "orderBy"),
        (#""orderBy":[{"field":"f"},{"field":"_calculated.d"}]"#, "orderBy[1].field"),
    ])
    func `What is no order is refused with its path`(_ order: String, _ path: String) async throws {
        try await TestService.with { service async throws in
            #expect(
                try await service.queryOutcome(order: order)
                    == "INVALID_INPUT_DATA bucketQuery.\(path)")
        }
    }
}
