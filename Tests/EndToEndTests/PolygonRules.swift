import JSONText
import Objects
import TestSupport
import Testing

/// `geopolygon`: inside or on the edge of a GeoJSON Polygon or MultiPolygon, holes respected.
@Suite struct PolygonRules {
    static func clause(_ geometry: String, field: String = "p") -> String {
        #"{"type":"geopolygon","field":"\#(field)","polygon":\#(geometry)}"#
    }

    static func polygon(_ rings: String) -> String {
        clause(#"{"type":"Polygon","coordinates":[\#(rings)]}"#)
    }

    private static func rectangle(
        _ west: Double, _ south: Double, _ east: Double, _ north: Double
    ) -> String {
        "[[\(west),\(south)],[\(east),\(south)],[\(east),\(north)],[\(west),\(north)],[\(west),\(south)]]"
    }

    static let places: [(String, Double, Double)] = [
        ("origin", 0, 0), ("middle", 5, 5), ("hole", 3, 3), ("hole-edge", 2, 3), ("east", 5, 180),
        ("west", 5, -180), ("near-east", 5, 179.5), ("near-west", 5, -179.5), ("north", 90, 10),
        ("south", -90, 10), ("far", 45, 100),
    ]

    /// Rings, or polygons, and the places inside, by hand.
    static let polygons: [(String, [String])] = [
        (polygon(rectangle(0, 0, 10, 10)), ["origin", "middle", "hole", "hole-edge"]),
        (
            polygon(rectangle(0, 0, 10, 10) + "," + rectangle(2, 2, 4, 4)),
            ["origin", "middle", "hole-edge"]
        ),
        (polygon("[[0,0],[10,0],[10,10],[0,0]]"), ["origin", "middle", "hole", "hole-edge"]),
        (
            polygon("[[0,0,7],[10,10,7.5,-1],[10,0],[0,0,7]]"),
            ["origin", "middle", "hole", "hole-edge"]
        ),
        (polygon(rectangle(170, 0, -170, 10)), ["east", "west", "near-east", "near-west"]),
        (polygon(rectangle(-170, 0, 170, 10)), ["east", "west", "near-east", "near-west"]),
        (polygon(rectangle(170, 0, 180, 10)), ["east", "west", "near-east"]),
        (polygon(rectangle(-180, 0, -170, 10)), ["east", "west", "near-west"]),
        (polygon(rectangle(-180, -90, 180, 90)), places.map(\.0)),
        (polygon(rectangle(-180, 80, 180, 90)), ["north"]),
        (
            polygon("[[-180,40],[0,50],[120,30],[180,40],[180,90],[-180,90],[-180,40]]"),
            ["north", "far"]
        ),
        (
            clause(
                #"{"type":"MultiPolygon","coordinates":[[\#(rectangle(0, 0, 1, 1))],[\#(rectangle(90, 40, 110, 50)),\#(rectangle(95, 41, 99, 49))],[\#(rectangle(-180, 0, -179, 9))]]}"#
            ), ["origin", "east", "west", "near-west", "far"]
        ),
    ]

    @Test func `A polygon holds the places within it, those on its edges too`() async throws {
        try await TestService.with { service in
            try await service.store(
                Self.places.map { ($0.0, "\"p\":\(point($0.1, $0.2))") } + [("no-place", "\"p\":5")]
            )
            for (clause, inside) in Self.polygons {
                #expect(try await service.ids(clause) == inside, "\(clause)")
                #expect(try await service.count(clause) == inside.count, "\(clause)")
                let outside = Self.places.map(\.0).filter { !inside.contains($0) }
                #expect(
                    try await service.ids(#"{"type":"not","clause":\#(clause)}"#) == outside,
                    "\(clause)")
            }
        }
    }

    /// A geometry's members, the path of the fault behind `…clause.polygon`, and words of the reason.
    static let faults: [(String, String, String)] = [
        (#""coordinates":[]"#, ".type", "missing"),
        (#""type":"Polygon""#, ".coordinates", "missing"),
        (#""type":"Point","coordinates":[1,2]"#, ".type", "MultiPolygon"),
        (#""type":"polygon","coordinates":[]"#, ".type", "MultiPolygon"),
        (#""type":"Polygon","coordinates":[],"crs":1"#, ".crs", "crs"),
        (#""type":"Polygon","coordinates":{}"#, ".coordinates", "rings"),
        (#""type":"Polygon","coordinates":[]"#, ".coordinates", "no ring"),
        (#""type":"MultiPolygon","coordinates":[]"#, ".coordinates", "no polygon"),
        (#""type":"MultiPolygon","coordinates":[[]]"#, ".coordinates[0]", "no ring"),
        (#""type":"Polygon","coordinates":[5]"#, ".coordinates[0]", "positions"),
        (#""type":"Polygon","coordinates":[[5]]"#, ".coordinates[0][0]", "longitude"),
        (#""type":"Polygon","coordinates":[[[1]]]"#, ".coordinates[0][0]", "longitude"),
        (#""type":"Polygon","coordinates":[[[1,2],["3",4]]]"#, ".coordinates[0][1][0]", "degrees"),
        (#""type":"Polygon","coordinates":[[[1,2],[3,null]]]"#, ".coordinates[0][1][1]", "degrees"),
        (#""type":"Polygon","coordinates":[[[1,2,null]]]"#, ".coordinates[0][0][2]", "number"),
        (
            #""type":"Polygon","coordinates":[[[1,2],[3,4],[5,90.5]]]"#, ".coordinates[0][2][1]",
            "90.5"
        ),
        (
            #""type":"Polygon","coordinates":[[[1,2],[-180.5,4]]]"#, ".coordinates[0][1][0]",
            "-180.5"
        ),
        (#""type":"Polygon","coordinates":[[[1e400,2]]]"#, ".coordinates[0][0][0]", "1e400"),
        (
            #""type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]],[[[0,99]]]]"#,
            ".coordinates[1][0][0][1]", "99"
        ),
        (
            #""type":"Polygon","coordinates":[[[0,0],[1,0],[0,0]]]"#, ".coordinates[0]",
            "Too few points"
        ),
        (
            #""type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]"#, ".coordinates[0]",
            "closed linestring"
        ),
        (
            #""type":"Polygon","coordinates":[\#(rectangle(0, 0, 9, 9)),[[1,1],[2,1],[2,2],[1,2]]]"#,
            ".coordinates[1]", "closed linestring"
        ),
        (
            #""type":"MultiPolygon","coordinates":[[\#(rectangle(0, 0, 9, 9))],[[[20,1],[22,1],[22,2],[21,2]]]]"#,
            ".coordinates[1][0]", "closed linestring"
        ),
        (
            #""type":"Polygon","coordinates":[[[0,0],[1,1],[1,0],[0,1],[0,0]]]"#, ".coordinates",
            "Self-intersection[0.5 0.5]"
        ),
        (
            #""type":"Polygon","coordinates":[[[0,80],[120,80],[-120,80],[0,80]]]"#,
            ".coordinates[0]", "pole"
        ),
    ]

    @Test func `What is no valid polygon is refused with its place and reason`() async throws {
        try await TestService.with { service async throws in
            for (members, path, words) in Self.faults {
                let failure = try await service.error(
                    "bucket.query", queryParams(Self.clause("{\(members)}"), "", "", "b1"))
                #expect(failure?.errorCode == "INVALID_INPUT_DATA", "\(members)")
                #expect(failure?.path == "bucketQuery.clause.polygon" + path, "\(members)")
                #expect(failure?.message.contains(words) == true, "\(failure?.message ?? members)")
            }
        }
    }

    /// A ring with so many positions, the last one the first again.
    private static func ring(_ count: Int) -> String {
        let zigzag = (0..<count - 3).map { "[\(Double($0 + 1) / 100_000),\($0 % 2)]" }
        return "[[0,-1],\(zigzag.joined(separator: ",")),[1,-1],[0,-1]]"
    }

    @Test func `The polygons of one query have up to polygonPositions positions`() async throws {
        var limits = Limits()
        limits.polygonPositions = 12
        try await TestService.with(limits: limits) { service async throws in
            for (first, second, outcome) in [
                (5, 6, "accepted"), (6, 6, "accepted"),
                (
                    6, 7,
                    "INVALID_INPUT_DATA bucketQuery.clause.clauses[1].polygon.coordinates[0][6]"
                ),
            ] {
                let clauses = [first, second].map { Self.polygon(Self.ring($0)) }
                let clause = #"{"type":"or","clauses":[\#(clauses.joined(separator: ","))]}"#
                #expect(try await service.queryOutcome(clause) == outcome, "\(first), \(second)")
            }
        }
        try await TestService.with { service async throws in
            #expect(try await service.queryOutcome(Self.polygon(Self.ring(10_000))) == "accepted")
            #expect(
                try await service.queryOutcome(Self.polygon(Self.ring(10_001)))
                    == "INVALID_INPUT_DATA bucketQuery.clause.polygon.coordinates[0][10000]")
        }
    }

    @Test func `A polygon pages, orders and explains like any clause`() async throws {
        try await TestService.with { service in
            try await service.store(
                (0..<300).map { ("o\($0)", "\"p\":\(point(Double($0 % 90), 20)),\"n\":\(-$0)") })
            let clause = Self.polygon(Self.rectangle(15, 10, 25, 19))
            let all = (0..<300).filter { (10...19).contains($0 % 90) }.map { "o\($0)" }
            #expect(try await service.ids(clause) == all)
            #expect(try await service.ids(clause, order: #""orderBy":"n""#) == all.reversed())
            let page = try await service.query(clause, more: #""bestEffortLimit":7"#)
            #expect(page["queryDescription"]?.string == "WHERE ( p IN POLYGON OF 5 POSITIONS )")
            let key = try #require(page.nextPaginationKey)
            #expect(
                try await service.ids(clause, more: #""paginationKey":"\#(key)""#)
                    == Array(all.dropFirst(7)))
            let other = Self.polygon(Self.rectangle(15, 10, 25, 18))
            #expect(
                try await service.queryOutcome(other, more: #""paginationKey":"\#(key)""#)
                    == "INVALID_INPUT_DATA paginationKey")
            let plan = try await service.call("bucket.explain", queryParams(clause, "", "", "b1"))
            #expect(plan["accessPath"]?.string == "polygon")
        }
    }
}
