import JSONText
import TestSupport
import Testing

/// A field that is an array with GeoPoints is several places of one object.
@Suite struct ArrayPointRules {
    /// `far` has a point at every place, most of them far away.
    private static let objects: KeyValuePairs<String, String> = [
        "both": #""p":[\#(point(0, 0)),\#(point(10, 10))]"#,
        "mixed":
            #""p":["closed",\#(point(0, 1)),[\#(point(50, 50))],{"q":\#(point(50, 50))},null]"#,
        "one": #""p":\#(point(0, 2))"#,
        "none": #""p":["closed",[\#(point(0, 0))]]"#,
        "empty": #""p":[]"#,
        "missing": "",
        "nested": #""a":{"p":[\#(point(0, 0))]}"#,
        "same": #""p":[\#(point(0, 0)),\#(point(0, 0)),\#(point(0.0, -0.0))]"#,
    ]

    private static func near(_ place: String, _ radius: Double, more: String = "") -> String {
        #"{"type":"geodistance","field":"p","center":\#(place),"radius":\#(radius)\#(more)}"#
    }

    private static func box(_ southWest: String, _ northEast: String) -> String {
        #"{"type":"geobox","field":"p","box":{"sw":\#(southWest),"ne":\#(northEast)}}"#
    }

    @Test func `A clause is true when it is true of one of the points, and unknown without one`()
        async throws
    {
        try await TestService.with { service in
            try await service.store(Self.objects)
            let polygon =
                #"{"type":"geopolygon","field":"p","polygon":{"type":"Polygon","coordinates":[[[9,9],[11,9],[11,11],[9,11],[9,9]]]}}"#
            for (clause, matches, others) in [
                (Self.near(point(0, 0), 1), ["both", "same"], ["mixed", "one"]),
                (Self.near(point(10, 10), 1), ["both"], ["mixed", "one", "same"]),
                (Self.near(point(50, 50), 1), [], ["both", "mixed", "one", "same"]),
                (Self.box(point(-1, 0.5), point(1, 3)), ["mixed", "one"], ["both", "same"]),
                (polygon, ["both"], ["mixed", "one", "same"]),
            ] {
                #expect(try await service.ids(clause) == matches, "\(clause)")
                #expect(try await service.count(clause) == matches.count, "\(clause)")
                let not = #"{"type":"not","clause":\#(clause)}"#
                #expect(try await service.ids(not) == others, "\(not)")
                #expect(try await service.count(not) == others.count, "\(not)")
            }
            let nested =
                #"{"type":"geodistance","field":"a.p","center":\#(point(0, 0)),"radius":1}"#
            #expect(try await service.ids(nested) == ["nested"])
        }
    }

    @Test(arguments: ["sphere", "wgs84"])
    func `The distance is the least of the points', and orders pages to the end`(
        model: String
    ) async throws {
        try await TestService.with { service in
            try await service.store(Self.objects)
            let clause = Self.near(
                point(0, 0.9), 2e7, more: #","putDistanceInto":"d","model":"\#(model)""#)
            let order = #""orderBy":"_calculated.d""#
            let all = try await service.query(clause, order: order)
            #expect(all.ids == ["mixed", "both", "same", "one"])
            let expected = [0.1, 0.9, 0.9, 1.1].map { offset in
                OracleDistance(from: (0, 0), to: (0, offset), model: model)
            }
            let reported = all["results"]!.array!.map { $0["_calculated"]!["d"]!.double! }
            for (distance, expected) in zip(reported, expected) {
                #expect(abs(distance - Double(expected.micrometers) / 1e6) < 1e-4)
            }
            var (found, key): ([String], String?) = ([], nil)
            repeat {
                let more = key.map { #","paginationKey":"\#($0)""# } ?? ""
                let page = try await service.query(
                    clause, order: order, more: #""bestEffortLimit":1\#(more)"#)
                found += page.ids
                key = page.nextPaginationKey
            } while key != nil
            #expect(found == all.ids)
            let descending = try await service.ids(clause, order: order + #","descending":true"#)
            #expect(descending == ["one", "both", "same", "mixed"])
        }
    }

    @Test func `Orders and other clauses see the array as an array`() async throws {
        try await TestService.with { service in
            try await service.store(Self.objects)
            let arrays = ["both", "mixed", "none", "empty", "same"]
            #expect(
                try await service.ids(#"{"type":"hasField","field":"p","fieldType":"ARRAY"}"#)
                    == arrays)
            #expect(
                try await service.ids(#"{"type":"hasField","field":"p","fieldType":"GEOPOINT"}"#)
                    == ["one"])
            #expect(
                try await service.ids(#"{"type":"eq","field":"p","value":\#(point(0, 0))}"#) == [])
            #expect(
                try await service.ids(#"{"type":"contains","field":"p","value":\#(point(0, 0))}"#)
                    == ["both", "same"])
            #expect(
                try await service.ids(order: #""orderBy":"p""#)
                    == ["one"] + arrays + ["missing", "nested"])
        }
    }

    @Test func `A point that stands twice in an array counts once, in statistics and in checks`()
        async throws
    {
        try await TestService.with { service in
            let twice = [point(0, 180), point(0, 180), point(0, -180), point(1, 2)]
            _ = try await service.put("o1", #"{"p":[\#(twice.joined(separator: ","))]}"#)
            _ = try await service.put("o2", #"{"p":\#(point(1, 2))}"#)
            let (stats, check) = (
                try await service.call("server.stats"), try await service.call("store.check")
            )
            #expect(stats["points"]?.int == 4 && check["points"]?.int == 4, "\(check)")
        }
    }

    @Test func `Points come and go with writes`() async throws {
        try await TestService.with { service in
            func near(_ latitude: Double) async throws -> Int? {
                try await service.count(Self.near(point(latitude, 0), 1))
            }
            for (object, expected) in [
                (#"[\#(point(1, 0)),\#(point(2, 0))]"#, [1, 1, 0]),
                (#"[\#(point(2, 0)),\#(point(3, 0))]"#, [0, 1, 1]), (point(1, 0), [1, 0, 0]),
                (#"[\#(point(3, 0))]"#, [0, 0, 1]), ("[]", [0, 0, 0]), ("7", [0, 0, 0]),
            ] {
                _ = try await service.put("o1", #"{"p":\#(object)}"#)
                let found = [try await near(1), try await near(2), try await near(3)]
                #expect(found == expected, "\(object)")
            }
        }
    }

    @Test func `Points in members that the service drops are nowhere`() async throws {
        try await TestService.with { service in
            let here = point(1, 1)
            _ = try await service.put(
                "o1", #"{"_owner":[\#(here)],"_dataType":\#(here),"_calculated":{"d":\#(here)}}"#)
            for field in ["_owner", "_dataType"] {
                let clause = #"{"type":"geodistance","field":"\#(field)","center":\#(here)}"#
                #expect(try await service.ids(clause) == [])
            }
            let list = try await service.text("bucket.list", "{}")
            #expect(list.contains(#""geoFields":[]"#), "\(list)")
        }
    }

    @Test func `An object has points at no more paths than a bucket, known or not`() async throws {
        try await TestService.with { service in
            func members(_ range: Range<Int>) -> String {
                range.map { #""p\#($0)":\#(point(1, 1))"# }.joined(separator: ",")
            }
            for half in [0..<50, 50..<100] {
                _ = try await service.put("o1", "{\(members(half))}")
                _ = try await service.put("o2", "{\(members(0..<50))}")
            }
            #expect(try await service.putOutcome("o3", "{\(members(0..<100))}") == "accepted")
            #expect(
                try await service.putOutcome("o3", "{\(members(0..<101))}")
                    == "INVALID_INPUT_DATA object.p100")
            #expect(try await service.count(Self.near(point(1, 1), 1)) == 0)
        }
    }

    @Test func `An array has up to 100 points; more are refused with the path`() async throws {
        try await TestService.with { service in
            func array(_ count: Int) -> String {
                "[7,\((0..<count).map { point(Double($0) / 10, 0) }.joined(separator: ","))]"
            }
            #expect(try await service.putOutcome("o1", #"{"p":\#(array(100))}"#) == "accepted")
            #expect(try await service.count(Self.near(point(9.9, 0), 1)) == 1)
            for (object, path) in [
                (#"{"p":\#(array(101))}"#, "p"), (#"{"a":{"b":\#(array(101))}}"#, "a.b"),
                (#"{"q":\#(array(100)),"p":\#(array(101))}"#, "p"),
            ] {
                let refused = "INVALID_INPUT_DATA object.\(path)"
                #expect(try await service.putOutcome("o2", object) == refused)
                let patch = #"{"bucket":"b1","id":"o1","object":\#(object)}"#
                #expect(try await service.outcome("object.patch", patch) == refused)
            }
            // No field path leads to the points of an inner array.
            #expect(
                try await service.putOutcome("o2", #"{"p":[\#(array(101))]}"#) == "accepted")
            let info = try await service.call("server.info", "{}")
            #expect(info["limits"]?["arrayPoints"] == .int(100))
        }
    }
}
