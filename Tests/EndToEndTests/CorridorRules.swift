import JSONText
import Objects
import TestSupport
import Testing

/// `geocorridor`: within a width of a GeoJSON LineString, with the distance and the place along it.
@Suite struct CorridorRules {
    static func clause(_ line: String, width: String = "112000", _ more: String = "") -> String {
        #"{"type":"geocorridor","field":"p","line":\#(line),"width":\#(width)\#(more)}"#
    }

    static func line(_ positions: String) -> String {
        #"{"type":"LineString","coordinates":[\#(positions)]}"#
    }

    private static let reports = #","putDistanceInto":"d","putAlongInto":"a""#

    private static let places: [(String, Double, Double)] = [
        ("east", 0, 20), ("beside", 1, 5), ("behind", 0, -1), ("west", 0, 1), ("far", 40, 5),
        ("twice", -1, 5),
    ]

    private static func store(in service: TestService) async throws {
        try await service.store(
            Self.places.map { ($0.0, "\"p\":\(point($0.1, $0.2))") } + [("no-place", "\"p\":5")])
    }

    @Test func `A corridor orders along its line and by distance, and reports both`() async throws {
        try await TestService.with { service in
            try await Self.store(in: service)
            let equator = Self.clause(Self.line("[0,0],[10,0,7],[10,0],[20,0]"), Self.reports)
            #expect(
                try await service.ids(equator) == ["east", "beside", "behind", "west", "twice"])
            #expect(try await service.count(equator) == 5)
            let along = #""orderBy":"_calculated.a""#
            #expect(
                try await service.ids(equator, order: along)
                    == ["behind", "west", "beside", "twice", "east"])
            #expect(
                try await service.ids(equator, order: along + #","descending":true"#)
                    == ["east", "beside", "twice", "west", "behind"])
            #expect(
                try await service.ids(
                    equator,
                    order:
                        #""orderBy":[{"field":"_calculated.d"},{"field":"_calculated.a","descending":true}]"#
                ) == ["east", "west", "beside", "twice", "behind"])
            let text = try await service.text(
                "bucket.query", queryParams(equator, along, #""fields":[]"#, "b1"))
            #expect(
                text.contains(
                    #"{"_id":"west","_calculated":{"d":0.0,"a":111194.926645}},{"_id":"beside","_calculated":{"d":111194.926645,"a":555974.633223}}"#
                ), "\(text)")
        }
    }

    @Test func `Both are reported wherever the clause stands`() async throws {
        try await TestService.with { service in
            try await Self.store(in: service)
            let corridor = Self.clause(Self.line("[0,0],[20,0]"), width: "1", Self.reports)
            for clause in [
                #"{"type":"not","clause":\#(corridor)}"#,
                #"{"type":"or","clauses":[{"type":"all"},\#(corridor)]}"#,
            ] {
                let results = try #require(
                    try await service.query(clause, order: #""orderBy":"_calculated.a""#)[
                        "results"]?.array)
                for result in results where result["_id"]?.string == "beside" {
                    #expect(result["_calculated"]?["d"]?.double == 111194.926645)
                    #expect(result["_calculated"]?["a"]?.double == 555974.633223)
                }
                #expect(results.contains { $0["_id"]?.string == "far" })
                #expect(
                    results.filter { $0["p"]?.int == 5 }.allSatisfy { $0["_calculated"] == nil })
            }
        }
    }

    @Test func `Where the line comes back, its first nearest place counts`() async throws {
        try await TestService.with { service in
            try await Self.store(in: service)
            let there = Self.clause(Self.line("[0,0],[10,0],[0,0]"), Self.reports)
            let results = try await service.query(there)["results"]?.array ?? []
            #expect(results.count == 4)
            for result in results where result["_id"]?.string == "beside" {
                #expect(result["_calculated"]?["a"]?.double == 555974.633223)
            }
        }
    }

    /// A line's members, the path of the fault behind `…clause.line`, and words of the reason.
    private static let faults: [(String, String, String)] = [
        (#""coordinates":[]"#, ".type", "missing"),
        (#""type":"LineString""#, ".coordinates", "missing"),
        (#""type":"MultiLineString","coordinates":[]"#, ".type", "LineString"),
        (#""type":"LineString","coordinates":[[0,0],[1,1]],"bbox":1"#, ".bbox", "bbox"),
        (#""type":"LineString","coordinates":{}"#, ".coordinates", "positions"),
        (#""type":"LineString","coordinates":[]"#, ".coordinates", "two or more"),
        (#""type":"LineString","coordinates":[[1,2]]"#, ".coordinates", "not 1"),
        (#""type":"LineString","coordinates":[[1,2],5]"#, ".coordinates[1]", "longitude"),
        (#""type":"LineString","coordinates":[[1,2],[1]]"#, ".coordinates[1]", "longitude"),
        (#""type":"LineString","coordinates":[[1,2],[1,91]]"#, ".coordinates[1][1]", "91"),
        (#""type":"LineString","coordinates":[[181,2],[1,1]]"#, ".coordinates[0][0]", "181"),
        (#""type":"LineString","coordinates":[[1,2,"x"],[1,1]]"#, ".coordinates[0][2]", "number"),
        (
            #""type":"LineString","coordinates":[[5,5],[0,0],[0,0],[180,0]]"#, ".coordinates[3]",
            "antipode"
        ),
        (#""type":"LineString","coordinates":[[5,90],[7,-90]]"#, ".coordinates[1]", "antipode"),
    ]

    @Test func `What is no line is refused with its place and reason`() async throws {
        try await TestService.with { service async throws in
            for (members, path, words) in Self.faults {
                let failure = try await service.error(
                    "bucket.query", queryParams(Self.clause("{\(members)}"), "", "", "b1"))
                #expect(failure?.errorCode == "INVALID_INPUT_DATA", "\(members)")
                #expect(failure?.path == "bucketQuery.clause.line" + path, "\(members)")
                #expect(failure?.message.contains(words) == true, "\(failure?.message ?? members)")
            }
        }
    }

    private static func zigzag(_ count: Int) -> String {
        line((0..<count).map { "[\(Double($0) / 1_000),\($0 % 2)]" }.joined(separator: ","))
    }

    @Test func `The lines of one query have up to linePositions positions`() async throws {
        var limits = Limits()
        limits.linePositions = 12
        try await TestService.with(limits: limits) { service async throws in
            for (second, outcome) in [
                (6, "accepted"), (7, "accepted"),
                (8, "INVALID_INPUT_DATA bucketQuery.clause.clauses[1].line.coordinates[7]"),
            ] {
                let clauses = [5, second].map { Self.clause(Self.zigzag($0)) }
                let clause = #"{"type":"or","clauses":[\#(clauses.joined(separator: ","))]}"#
                #expect(try await service.queryOutcome(clause) == outcome, "\(second)")
            }
        }
        try await TestService.with { service async throws in
            #expect(
                try await service.queryOutcome(Self.clause(Self.zigzag(10_000))) == "accepted")
            #expect(
                try await service.queryOutcome(Self.clause(Self.zigzag(10_001)))
                    == "INVALID_INPUT_DATA bucketQuery.clause.line.coordinates[10000]")
        }
    }

    @Test func `A corridor pages, describes and explains itself`() async throws {
        try await TestService.with { service in
            try await service.store(
                (0..<300).map { ("o\($0)", "\"p\":\(point(Double($0 % 90), 20))") })
            let corridor = Self.clause(
                Self.line("[20,9.5],[20,19.5]"), width: "60000", Self.reports)
            let all = (0..<300).filter { (9...20).contains($0 % 90) }
                .sorted { ($0 % 90, $0) < ($1 % 90, $1) }.map { "o\($0)" }
            let order = #""orderBy":"_calculated.a""#
            // What is behind either end is as far along as the end.
            #expect(try await service.ids(corridor, order: order).count == all.count)
            let inner = Self.clause(Self.line("[20,8],[20,21]"), width: "60000", Self.reports)
            let around = (0..<300).filter { (8...21).contains($0 % 90) }
                .sorted { ($0 % 90, $0) < ($1 % 90, $1) }.map { "o\($0)" }
            var (found, more) = ([String](), "")
            while true {
                let page = try await service.query(
                    inner, order: order, more: #""bestEffortLimit":7"# + more)
                #expect(
                    page["queryDescription"]?.string?.hasPrefix(
                        "WHERE ( p WITHIN 60000.0 m OF LINE OF 2 POSITIONS )") == true, "\(page)")
                found += page["results"]?.array?.compactMap { $0["_id"]?.string } ?? []
                guard let key = page.nextPaginationKey else { break }
                more = #","paginationKey":"\#(key)""#
            }
            #expect(found == around)
            let plan = try await service.call("bucket.explain", queryParams(inner, "", "", "b1"))
            #expect(plan["accessPath"]?.string == "corridor")
        }
    }
}
