import TestSupport
import Testing

/// Distances: their values, where they are reported, and the radius.
@Suite struct DistanceRules {
    private static func clause(
        _ center: String, radius: String? = nil, into name: String? = "d", field: String = "p",
        model: String? = nil
    ) -> String {
        #"{"type":"geodistance","field":"\#(field)","center":\#(center)"#
            + (radius.map { ",\"radius\":\($0)" } ?? "")
            + (model.map { ",\"model\":\"\($0)\"" } ?? "")
            + (name.map { ",\"putDistanceInto\":\"\($0)\"" } ?? "") + "}"
    }

    /// Two places and their distance on a sphere of 6,371,000 m, rounded to the micrometre.
    static let vectors: [(Double, Double, Double, Double, String)] = [
        (35.677379, 139.702148, 35.667983, 139.739356, "3519.661461"),
        (35.677379, 139.702148, 35.672568, 139.723606, "2010.725656"),
        (1, 2, 1, 2, "0.0"),
        (0, 0, 0, 1, "111194.926645"), (0, 0, 1, 0, "111194.926645"),
        (0, 179.5, 0, -179.5, "111194.926645"), (0, 180, 0, -180, "0.0"),
        (0, 180, 0, -179, "111194.926645"), (12.5, -180, 12.5, 180, "0.0"),
        (90, 0, 90, 123, "0.0"), (-90, -180, -90, 7, "0.0"), (90, 50, 89, -130, "111194.926645"),
        (89.5, 0, 89.5, 180, "111194.926645"), (90, 17, 0, -63, "10007543.39801"),
        (90, 0, -90, 0, "20015086.796021"), (0, 0, 0, 180, "20015086.796021"),
        (10, 20, -10, -160, "20015086.796021"), (-33.25, 151, 33.25, -29, "20015086.796021"),
        (0, 0, 0, 90, "10007543.39801"), (0, 0, 60, 0, "6671695.598674"),
    ]

    @Test func `Distances are great circles by haversine, rounded to the micrometre`() async throws
    {
        try await TestService.with { service in
            for (index, (fromLat, fromLon, toLat, toLon, distance)) in Self.vectors.enumerated() {
                let bucket = "b1-\(index)"
                try await service.store(["o1": "\"p\":\(point(toLat, toLon))"], in: bucket)
                let clause = Self.clause(point(fromLat, fromLon))
                let text = try await service.text(
                    "bucket.query", queryParams(clause, "", #""fields":[]"#, bucket))
                #expect(
                    text.hasSuffix(#"[{"_id":"o1","_calculated":{"d":\#(distance)}}]}"#),
                    "\(text) \(distance)")
            }
        }
    }

    /// Two places and their distance on the ellipsoid. The first is Karney's example, Wellington to
    /// Salamanca (documentation of GeographicLib's `geod_inverse`); then a degree of the equator,
    /// quarter and half of a meridian, antipodes.
    static let ellipsoid: [(Double, Double, Double, Double, String)] = [
        (-41.32, 174.81, 40.96, -5.5, "19959679.267354"), (0, 0, 0, 1, "111319.490793"),
        (0, 179.5, 0, -179.5, "111319.490793"), (0, 180, 0, -180, "0.0"),
        (90, 0, 0, 12, "10001965.729313"), (90, 0, -90, 0, "20003931.458625"),
        (0, 0, 0, 180, "20003931.458625"), (10, 20, -10, -160, "20003931.458625"),
    ]

    @Test func `With the model wgs84 distances are geodesics on the ellipsoid`() async throws {
        try await TestService.with { service in
            for (index, (fromLat, fromLon, toLat, toLon, distance)) in Self.ellipsoid.enumerated() {
                let bucket = "b1-\(index)"
                try await service.store(["o1": "\"p\":\(point(toLat, toLon))"], in: bucket)
                let clause = Self.clause(point(fromLat, fromLon), model: "wgs84")
                let text = try await service.text(
                    "bucket.query", queryParams(clause, "", #""fields":[]"#, bucket))
                #expect(
                    text.hasSuffix(#"[{"_id":"o1","_calculated":{"d":\#(distance)}}]}"#),
                    "\(text) \(distance)")
            }
        }
    }

    @Test
    func `The model decides who is nearest, within the radius, and which pages a key continues`()
        async throws
    {
        // A degree of the meridian is shorter than one of the equator on the ellipsoid alone.
        try await TestService.with { service in
            try await service.store([
                "east": "\"p\":\(point(0, 1))", "north": "\"p\":\(point(1.001, 0))",
            ])
            let order = #""orderBy":"_calculated.d""#
            for (model, ids, within) in [
                (nil, ["east", "north"], ["east"]), ("sphere", ["east", "north"], ["east"]),
                ("wgs84", ["north", "east"], ["north"]),
            ] as [(String?, [String], [String])] {
                let center = point(0, 0)
                #expect(
                    try await service.ids(Self.clause(center, model: model), order: order) == ids)
                let near = Self.clause(center, radius: "111250", model: model)
                #expect(try await service.ids(near, order: order) == within, "\(model ?? "none")")
                #expect(try await service.count(near) == 1)
            }
            let sphere = Self.clause(point(0, 0), model: "sphere")
            let page = try await service.query(sphere, order: order, more: #""bestEffortLimit":1"#)
            let key = #""paginationKey":"\#(try #require(page.nextPaginationKey))""#
            let unnamed = Self.clause(point(0, 0))
            #expect(try await service.ids(unnamed, order: order, more: key) == ["north"])
            let other = Self.clause(point(0, 0), model: "wgs84")
            #expect(
                try await service.queryOutcome(other, order: order, more: key)
                    == "INVALID_INPUT_DATA paginationKey")
            #expect(
                try await service.query(other)["queryDescription"]?.string
                    == "WHERE ( p WITHIN ANY DISTANCE OF 0.0, 0.0 ON WGS84 )")
        }
    }

    /// Places all over, with the poles, the antimeridian, twins and antipodes among them.
    private static func places(seed: UInt64, _ count: Int) -> [(Double, Double)] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { index in
            let (latitude, longitude) = (random.number(-90...90), random.number(-180...180))
            switch index % 6 {
            case 0: return (index % 12 == 0 ? 90 : -90, longitude)
            case 1: return (latitude, index % 12 == 1 ? 180 : -180)
            case 2: return (35.5 + random.number(-1e-6...1e-6), 139.5 + random.number(-1e-6...1e-6))
            case 3: return (-35.5 + random.number(-1e-7...1e-7), -40.5)
            default: return (latitude, longitude)
            }
        }
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>, ["sphere", "wgs84"])
    func `A radius equal to a reported distance includes it, a micrometre less does not`(
        _ seed: UInt64, _ model: String
    ) async throws {
        try await TestService.with { service in
            try await service.store(
                Self.places(seed: seed, 120).enumerated().map {
                    ("i\($0)", "\"p\":\(point($1.0, $1.1))")
                })
            let center = point(35.5, 139.5)
            let order = #""orderBy":"_calculated.d""#
            let all = try await service.query(Self.clause(center, model: model), order: order)
            let found = try #require(all["results"]?.array)
            #expect(found.count == 120)
            let distances = found.compactMap { $0["_calculated"]?["d"]?.double }
            #expect(distances == distances.sorted())
            for (index, distance) in distances.enumerated() where distance > 0 {
                let within = distances.filter { $0 <= distance }.count
                let clause = Self.clause(center, radius: "\(distance)", model: model)
                #expect(
                    try await service.count(clause) == within, "seed \(seed) \(model) \(distance)")
                if index % 10 == 0 {
                    #expect(
                        try await service.ids(clause, order: order)
                            == Array(all.ids.prefix(within)))
                }
                let less = "\((distance * 1e6 - 1).rounded() / 1e6)"
                guard less != "0.0" else { continue }
                let below = distances.filter { $0 < distance }.count
                let short = Self.clause(center, radius: less, model: model)
                #expect(
                    try await service.count(short) == below, "seed \(seed) \(model) \(distance)")
            }
        }
    }

    @Test func `The largest radius reaches the antipode`() async throws {
        try await TestService.with { service in
            try await service.store(["o1": "\"p\":\(point(-35.5, -40.5))", "o2": ""])
            for radius in ["20015115", "20015115.0", "20015086.796021"] {
                #expect(
                    try await service.ids(Self.clause(point(35.5, 139.5), radius: radius))
                        == ["o1"])
            }
            let short = Self.clause(point(35.5, 139.5), radius: "20015086.79602")
            #expect(try await service.ids(short) == [])
            #expect(try await service.ids(Self.clause(point(35.5, 139.5))) == ["o1"])
        }
    }

    @Test func `A distance is reported wherever its clause stands in the tree`() async throws {
        let near = Self.clause(point(0, 0), radius: "200000")
        try await TestService.with { service in
            try await service.store([
                "o1": "\"p\":\(point(0, 1))", "o2": "\"p\":\(point(0, 2))", "o3": #""p":5"#,
                "o4": #""p":[[\#(point(0, 1))]]"#,
            ])
            let (one, two) = ("111194.926645", "222389.853289")
            for (clause, found) in [
                (near, [("o1", one)]),
                (#"{"type":"and","clauses":[{"type":"all"},\#(near)]}"#, [("o1", one)]),
                (#"{"type":"not","clause":\#(near)}"#, [("o2", two)]),
                (
                    #"{"type":"or","clauses":[{"type":"all"},\#(near)]}"#,
                    [("o1", one), ("o2", two), ("o3", nil), ("o4", nil)]
                ),
                (
                    #"{"type":"or","clauses":[{"type":"hasField","field":"p"},{"type":"not","clause":{"type":"not","clause":\#(near)}}]}"#,
                    [("o1", one), ("o2", two), ("o3", nil), ("o4", nil)]
                ),
            ] as [(String, [(String, String?)])] {
                let expected = found.map { id, distance in
                    "{\"_id\":\"\(id)\""
                        + (distance.map { ",\"_calculated\":{\"d\":\($0)}" } ?? "") + "}"
                }
                let text = try await service.text(
                    "bucket.query", queryParams(clause, "", #""fields":[]"#, "b1"))
                #expect(
                    text.hasSuffix(#""results":[\#(expected.joined(separator: ","))]}"#),
                    "\(clause) \(text)")
            }
            let silent = try await service.query(Self.clause(point(0, 0), into: nil))
            #expect(silent["results"]?[0]?["_calculated"] == nil)
            #expect(silent.ids == ["o1", "o2"])
        }
    }

    @Test func `Several clauses report under their names, the same name twice is refused`()
        async throws
    {
        let first = Self.clause(point(0, 0), into: "d")
        let second = Self.clause(point(0, 0), into: "_E9", field: "q")
        try await TestService.with { service in
            try await service.store([
                "o1": "\"p\":\(point(0, 1)),\"q\":\(point(1, 0))", "o2": "\"q\":\(point(2, 0))",
                "o3": "\"p\":\(point(0, 2))",
            ])
            let or = #"{"type":"or","clauses":[\#(first),\#(second)]}"#
            let results = try #require(try await service.query(or)["results"]?.array)
            #expect(
                results.map { $0["_calculated"]?.names ?? [] } == [["d", "_E9"], ["_E9"], ["d"]])
            #expect(results[0]["_calculated"]?["_E9"]?.double == 111194.926645)
            #expect(results[2]["_calculated"]?["d"]?.double == 222389.853289)
            for (order, ids) in [
                (#""orderBy":"_calculated._E9""#, ["o1", "o2", "o3"]),
                (#""orderBy":"_calculated._E9","descending":true"#, ["o2", "o1", "o3"]),
                (#""orderBy":"_calculated.d","descending":true"#, ["o3", "o1", "o2"]),
                (
                    #""orderBy":[{"field":"_calculated.d","descending":true},{"field":"_id"}]"#,
                    ["o3", "o1", "o2"]
                ),
            ] {
                #expect(try await service.ids(or, order: order) == ids, "\(order)")
            }
            let twice = Self.clause(point(5, 5), into: "d", field: "q")
            #expect(
                try await service.queryOutcome(
                    #"{"type":"or","clauses":[\#(first),{"type":"not","clause":\#(twice)}]}"#)
                    == "INVALID_INPUT_DATA bucketQuery.clause.clauses[1].clause.putDistanceInto")
        }
    }

    @Test func `Objects order by distance in both directions, equal ones by creation`()
        async throws
    {
        try await TestService.with { service in
            try await service.store([
                "o1": "\"p\":\(point(0, 2))", "o2": "\"p\":\(point(0, -1))",
                "o3": "\"p\":\(point(1, 0))", "o4": "\"p\":\(point(0, 0))",
                "o5": "\"p\":\(point(-1, 0))", "o6": "",
            ])
            let clause = Self.clause(point(0, 0))
            let ascending = #""orderBy":"_calculated.d""#
            #expect(
                try await service.ids(clause, order: ascending) == ["o4", "o2", "o3", "o5", "o1"])
            #expect(
                try await service.ids(clause, order: ascending + #","descending":true"#)
                    == ["o1", "o2", "o3", "o5", "o4"])
            let or = #"{"type":"or","clauses":[{"type":"all"},\#(clause)]}"#
            for direction in ["false", "true"] {
                let ids = try await service.ids(
                    or, order: ascending + #","descending":\#(direction)"#)
                #expect(ids.last == "o6")
                #expect(ids.count == 6)
            }
        }
    }
}
