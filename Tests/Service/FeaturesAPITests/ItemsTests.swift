import HTTPTypes
import JSONText
import Objects
import TestSupport
import Testing
import WebExchange

@testable import GISSites

/// The features of a collection.
@Suite struct ItemsTests {
    private static func object(_ number: Int, lat: Double = 0, lon: Double, _ more: String = "")
        -> String
    {
        #"{"_id":"o\#(number)","n":\#(number)\#(more),"p":{"_type":"point","lat":\#(lat),"lon":\#(lon)}}"#
    }

    private static let line = (0..<25).map { object($0, lon: Double($0)) }

    @Test
    func `A feature is the object, with its point as the geometry and null for what it lacks`()
        async throws
    {
        let objects = [
            #"{"_id":"a1","s":"x","p":{"_type":"point","lat":1.50,"lon":2e0},"o":{"k":[1,{"z":null}]}}"#,
            #"{"_id":"a2","t":9007199254740993,"p":{"_type":"point","lat":-0.0,"lon":180}}"#,
            #"{"_id":"a3","p":[{"_type":"point","lat":1,"lon":2},"home",{"_type":"point","lat":3,"lon":4}]}"#,
            #"{"_id":"a4","s":"nowhere"}"#,
        ]
        try await TestSite.with("things1", objects) { site, _ in
            let answer = try await site.answer("/ogc/collections/things1/items")
            let text = String(decoding: answer.bytes!, as: UTF8.self)
            #expect(text.contains(#""geometry":{"type":"Point","coordinates":[2e0,1.50]}"#))
            #expect(text.contains(#""coordinates":[[2,1],[4,3]]"#))
            #expect(text.contains(#""t":9007199254740993"#))
            #expect(text.contains(#""o":{"k":[1,{"z":null}]}"#))
            let page = try JSONValue(parsing: answer.bytes!)
            #expect(page.features.map { $0["id"]!.string! } == ["a1", "a2", "a3"])
            for feature in page.features {
                let names = Set(feature["properties"]!.names)
                #expect(
                    names.isSuperset(of: ["_created", "_modified", "_version", "s", "o", "t"]))
                #expect(feature["properties"]!["_id"] == nil)
                let id = feature["id"]!.string!
                let one = try await site.json("/ogc/collections/things1/items/\(id)")
                #expect(one["properties"] == feature["properties"])
                #expect(one["geometry"] == feature["geometry"])
                #expect(
                    one.link("collection") == "https://geo.example.com/ogc/collections/things1")
            }
            #expect(page.features[1]["properties"]!["s"] == .null)
            #expect(page["numberMatched"]?.int == 3)
            for missing in ["a4", "a5", "x", "-%20-"] {
                #expect(
                    await site.outcome("/ogc/collections/things1/items/\(missing)")
                        == "404 OBJECT_NOT_FOUND -")
            }
        }
    }

    @Test func `Pages follow each other along the links, each with the number of all`()
        async throws
    {
        try await TestSite.with("line", Self.line) { site, _ in
            let all = (0..<25).map { "o\($0)" }
            for limit in [1, 7, 24, 25, 26] {
                let target = "/ogc/collections/line/items?limit=\(limit)&bbox=0,-1,24,1"
                #expect(try await site.ids(target) == all)
                let page = try await site.json(target)
                #expect(page["numberMatched"]?.int == 25)
                #expect(page["numberReturned"]?.int == min(limit, 25))
                #expect((page.link("next") == nil) == (limit >= 25))
                #expect(
                    page.link("self")
                        == "https://geo.example.com/ogc/collections/line/items?limit=\(limit)&bbox=0,-1,24,1"
                )
                let next = page["links"]!.array!.first { $0["rel"]?.string == "next" }
                #expect(next == nil || next?["type"]?.string == "application/geo+json")
            }
        }
    }

    @Test func `An answer is made of as many pages as it takes, and holds one at a time`()
        async throws
    {
        var limits = Limits()
        limits.pageObjects = 10
        try await TestSite.with("line", Self.line, limits: limits) { site, _ in
            let answer = try await site.answer("/ogc/collections/line/items?limit=23")
            let pieces = try await answer.collected()
            #expect(pieces.count == 4)
            let page = try JSONValue(parsing: Array(pieces.joined()))
            #expect(page.features.map { $0["id"]!.string! } == (0..<23).map { "o\($0)" })
            #expect(page["numberMatched"]?.int == 25)
            #expect(try await site.ids("/ogc/collections/line/items?limit=23").count == 25)
            let whole = try await site.json("/ogc/collections/line/items?limit=10000")
            #expect(whole.features.count == 25 && whole["numberMatched"]?.int == 25)
            #expect(whole.link("next") == nil)
        }
    }

    @Test func `The number matched is never less than what an answer has and leads to`()
        async throws
    {
        var limits = Limits()
        limits.pageObjects = 10
        try await TestSite.with("line", Self.line, limits: limits) { site, service in
            let answer = try await site.answer("/ogc/collections/line/items?limit=28")
            // More is written after the number was counted.
            for number in 25..<40 {
                try await service.call(
                    "object.put",
                    #"{"bucket":"line","id":"o\#(number)","object":{"p":{"_type":"point","lat":0,"lon":0}}}"#
                )
            }
            let page = try JSONValue(parsing: Array(try await answer.collected().joined()))
            #expect(page["numberReturned"]?.int == 28)
            #expect(page["numberMatched"]?.int == 29 && page.link("next") != nil)
        }
    }

    @Test(arguments: [
        ("limit=0", "limit"), ("limit=-1", "limit"), ("limit=x", "limit"), ("limit=", "limit"),
        ("limit=1.5", "limit"), ("limit=1&limit=1", "limit"), ("bbox=1,2,3", "bbox"),
        ("bbox=1,2,3,x", "bbox"), ("bbox=0x0,0,0x9,1", "bbox"),
        ("bbox=1,2,3,4,5", "bbox"), ("bbox=0,5,1,4", "bbox"),
        ("bbox=0,0,1,nan", "bbox"), ("bbox=0,91,1,92", "bbox"), ("bbox=-999,0,1,1", "bbox"),
        ("datetime=yesterday", "datetime"), ("datetime=", "datetime"), ("datetime=..", "datetime"),
        ("datetime=2026-01-02/2026-01-01", "datetime"), ("datetime=2026/2027", "datetime"),
        ("datetime=2026-01-01/2026-01-02/2026-01-03", "datetime"), ("filter=n", "filter"),
        ("filter=", "filter"), ("filter-lang=cql2-json", "filter-lang"),
        ("filter-crs=http://example.com", "filter-crs"), ("key=x", "key"), ("f=json", "f"),
        ("nothing=1", "nothing"), ("p=1", "p"), ("resultType=hits", "resultType"),
    ])
    func `A parameter at fault is refused by name`(_ query: String, _ path: String) async throws {
        try await TestSite.with("line", [Self.line[0]]) { site, _ in
            #expect(
                await site.outcome("/ogc/collections/line/items?\(query)")
                    == "400 INVALID_INPUT_DATA \(path)")
        }
    }

    @Test func `A limit above the greatest is the greatest`() async throws {
        try await TestSite.with("line", Self.line) { site, _ in
            for limit in ["10001", "99999999999999999999999", "0025"] {
                let page = try await site.json("/ogc/collections/line/items?limit=\(limit)")
                #expect(page.features.count == 25)
            }
        }
    }

    @Test func `A box has its edges, crosses the antimeridian, and may have heights`()
        async throws
    {
        let objects = [-180.0, -179.5, -90, 0, 90, 179.5, 180].enumerated().map {
            Self.object($0, lat: 10 * Double($0 - 3), lon: $1)
        }
        try await TestSite.with("round", objects) { site, _ in
            for (box, expected) in [
                ("0,-90,90,90", [3, 4]), ("179,-90,-179,90", [0, 1, 5, 6]),
                ("-180,-90,180,90", [0, 1, 2, 3, 4, 5, 6]), ("0,-90,-1000,90,90,1000", [3, 4]),
                ("-180,-90,-180,90", [0, 6]), ("0,0,0,0", [3]), ("170,-99,190,99", [0, 1, 5, 6]),
                ("-200,-90,-170,90", [0, 1, 5, 6]), ("-400,-90,400,90", [0, 1, 2, 3, 4, 5, 6]),
                ("-180,-90,180,-5", [0, 1, 2]), ("1,1,2,2", []),
            ] {
                let ids = try await site.ids("/ogc/collections/round/items?bbox=\(box)")
                #expect(ids == expected.map { "o\($0)" }, "\(box)")
            }
        }
    }

    @Test func `The time is when the object was last changed`() async throws {
        let clock = TestClock(0)
        try await TestService.with(clock: clock) { service in
            let site = TestSite(LineOperations(service: service))
            let start = 1_795_514_400_000  // 2026-11-24T10:00:00Z
            for number in 0..<4 {
                clock.now = Int64(start + number * 1_000)
                try await service.call(
                    "object.put",
                    #"{"bucket":"times","id":"t\#(number)","object":{"p":{"_type":"point","lat":0,"lon":0}}}"#
                )
            }
            for (time, expected) in [
                ("2026-11-24T10:00:01Z", [1]), ("2026-11-24T11:00:01%2B01:00", [1]),
                ("2026-11-24T10:00:01Z/2026-11-24T10:00:02Z", [1, 2]),
                ("2026-11-24T10:00:01.5Z/..", [2, 3]), ("2026-11-24T10:00:01Z/", [1, 2, 3]),
                ("../2026-11-24T10:00:00Z", [0]), ("/2026-11-24T10:00:01.999Z", [0, 1]),
                ("../..", [0, 1, 2, 3]), ("2026-11-24", [0, 1, 2, 3]), ("2026-11-23", []),
                ("2026-11-24T10:00:01.0001Z", []),
                ("2026-11-24T10:00:01.0001Z/2026-11-24T10:00:01.0002Z", []),
                ("2026-11-24T10:00:00.9999Z/2026-11-24T10:00:01.0001Z", [1]),
            ] {
                let ids = try await site.ids("/ogc/collections/times/items?datetime=\(time)")
                #expect(ids == expected.map { "t\($0)" }, "\(time)")
            }
            let filter = "filter=_modified%20%3E=%20TIMESTAMP('2026-11-24T10:00:02Z')"
            #expect(try await site.ids("/ogc/collections/times/items?\(filter)") == ["t2", "t3"])
        }
    }

    @Test func `Each queryable is a parameter, for the value that the text spells`() async throws {
        let objects = [
            #","kind":"shop""#, #","kind":"5""#, #","kind":5"#, #","kind":5.0,"open":true"#,
            #","open":"true","deep":{"er":"x y"}"#, #","open":false"#,
        ].enumerated().map { Self.object($0, lon: Double($0), $1) }
        try await TestSite.with("kinds", objects) { site, service in
            for (query, expected) in [
                ("kind=shop", [0]), ("kind=5", [1, 2, 3]), ("open=true", [3, 4]),
                ("open=false", [5]), ("deep.er=x%20y", [4]), ("kind=5&open=true", [3]),
                ("_id=o2", [2]), ("kind=nothing", []), ("_version=1&kind=shop", [0]),
            ] {
                let ids = try await site.ids("/ogc/collections/kinds/items?\(query)")
                #expect(ids == expected.map { "o\($0)" }, "\(query)")
            }
            // A field that is new is known at once.
            #expect(
                await site.outcome("/ogc/collections/kinds/items?colour=red")
                    == "400 INVALID_INPUT_DATA colour")
            try await service.call(
                "object.patch", #"{"bucket":"kinds","id":"o1","object":{"colour":"red"}}"#)
            #expect(try await site.ids("/ogc/collections/kinds/items?colour=red") == ["o1"])
            // So are a bucket that is new, and a place of a new kind.
            #expect(await site.outcome("/ogc/collections/more/items") == "404 BUCKET_NOT_FOUND -")
            #expect(await site.outcome("/ogc/collections/kinds@q/items").hasPrefix("404"))
            for bucket in ["kinds", "more"] {
                try await service.call(
                    "object.put",
                    #"{"bucket":"\#(bucket)","id":"new","object":{"q":{"_type":"point","lat":0,"lon":0}}}"#
                )
            }
            #expect(try await site.ids("/ogc/collections/more/items") == ["new"])
            #expect(try await site.ids("/ogc/collections/kinds@q/items") == ["new"])
        }
    }

    @Test func `The field of the geometry is one queryable, whatever else objects have there`()
        async throws
    {
        try await TestSite.with("mixed", [Self.object(0, lon: 0, "")]) { site, service in
            try await service.call(
                "object.put", #"{"bucket":"mixed","id":"no","object":{"p":"nowhere"}}"#)
            let queryables = try await site.json("/ogc/collections/mixed/queryables")
            #expect(queryables["properties"]!.names.filter { $0 == "p" }.count == 1)
            #expect(queryables["queryables"]!.array!.allSatisfy { $0["id"]?.string != "p" })
        }
    }

    @Test func `All conditions have to hold, on every page`() async throws {
        try await TestSite.with("line", Self.line) { site, _ in
            let query =
                "bbox=3,-1,20,1&filter=n%20%3C%3E%205%20AND%20NOT%20n%20IN%20(7,8)&filter-lang=cql-text"
                + "&limit=4&datetime=../2100-01-01T00:00:00Z"
            let expected = (3...20).filter { ![5, 7, 8].contains($0) }.map { "o\($0)" }
            let ids = try await site.ids("/ogc/collections/line/items?\(query)")
            #expect(ids == expected)
        }
    }

    @Test func `Beside a field of booleans alone, 1 and 0 are TRUE and FALSE`() async throws {
        let objects = [
            #","open":true,"mixed":true"#, #","open":false,"mixed":1"#, #","open":null"#,
        ].enumerated().map { Self.object($0, lon: Double($0), $1) }
        try await TestSite.with("doors", objects) { site, _ in
            for (filter, expected) in [
                ("open = 1", [0]), ("open <> 1", [1]), ("0 = open", [1]),
                ("open IN (0, 1)", [0, 1]),
                ("NOT (open = 0 OR mixed = 2)", []), ("mixed = 1", [1]), ("open = 2", []),
            ] {
                let ids = try await site.ids(
                    "/ogc/collections/doors/items?filter=\(percentEncoded(filter))")
                #expect(ids == expected.map { "o\($0)" }, "\(filter)")
            }
        }
    }

    @Test func `Spatial functions name places, and geometry and geom the place of the feature`()
        async throws
    {
        try await TestSite.with("line", Self.line) { site, service in
            func outcome(_ collection: String, _ field: String) async throws -> String {
                let filter = percentEncoded("S_INTERSECTS(\(field), BBOX(1.5,-1,3.5,1))")
                let target = "/ogc/collections/\(collection)/items?filter=\(filter)"
                let outcome = await site.outcome(target)
                return outcome == "200"
                    ? try await site.ids(target).joined(separator: " ") : outcome
            }
            for name in ["p", "geometry", "geom", "\"geometry\""] {
                #expect(try await outcome("line", name) == "o2 o3", "\(name)")
            }
            for name in ["n", "nothing", "Geometry", "_id"] {
                #expect(try await outcome("line", name) == "400 INVALID_INPUT_DATA filter")
            }
            do throws(WebFailure) {
                _ = try await site.answer(
                    "/ogc/collections/line/items?filter=S_WITHIN(nothing,BBOX(0,0,1,1))")
                Issue.record("answered")
            } catch {
                #expect(
                    error.message
                        == "column 10: \"nothing\" is no place of the collection; it has \"p\"")
            }
            // A place that is new is known at once.
            try await service.call(
                "object.patch",
                #"{"bucket":"line","id":"o7","object":{"q":{"_type":"point","lat":0,"lon":2}}}"#)
            #expect(try await outcome("line", "q") == "o7")
            #expect(try await outcome("line@q", "geom") == "o7")
            #expect(try await outcome("line@q", "p") == "")
        }
        // A field that is called so is meant, and has to be a place.
        let objects = [
            Self.object(1, lon: 1, #","geom":{"_type":"point","lat":0,"lon":2}"#),
            Self.object(2, lon: 2, #","geometry":"text""#),
        ]
        try await TestSite.with("named", objects) { site, _ in
            func target(_ field: String) -> String {
                let filter = percentEncoded("S_INTERSECTS(\(field), BBOX(1.5,-1,3.5,1))")
                return "/ogc/collections/named@p/items?filter=\(filter)"
            }
            let ids = try await site.ids(target("geom"))
            #expect(ids == ["o1"])
            #expect(await site.outcome(target("geometry")) == "400 INVALID_INPUT_DATA filter")
        }
    }

    @Test func `An answer links itself, and itself as the other type`() async throws {
        try await TestSite.with("line", Self.line) { site, _ in
            for path in ["items?limit=3", "items/o1"] {
                let target = "/ogc/collections/line/\(path)"
                for (accept, own, other) in [
                    ("*/*", "application/geo+json", "application/json"),
                    ("application/json", "application/json", "application/geo+json"),
                ] {
                    let answer = try await site.json(target, headers: [.accept: accept])
                    for (relation, type) in [("self", own), ("alternate", other)] {
                        let link = answer["links"]?.array?.first {
                            $0["rel"]?.string == relation
                        }
                        #expect(link?["type"]?.string == type, "\(path) \(accept)")
                        #expect(link?["href"]?.string == "https://geo.example.com" + target)
                    }
                }
            }
        }
    }

    @Test func `One write does not change which places a collection has`() async throws {
        try await TestSite.with("line", Self.line) { site, service in
            try await service.call(
                "object.put",
                #"{"bucket":"line","id":"new","object":{"a":{"_type":"point","lat":0,"lon":2}}}"#)
            let page = try await site.json("/ogc/collections/line/items")
            #expect(page["numberMatched"]?.int == 25)
            let listed = try await site.json("/ogc/collections")["collections"]!.array!
            #expect(listed.map { $0["id"]!.string! } == ["line", "line@a", "line@p"])
            #expect(try await site.ids("/ogc/collections/line@a/items") == ["new"])
            #expect(try await site.ids("/ogc/collections/line@p/items").count == 25)
        }
    }

    @Test func `A key of another query is refused`() async throws {
        try await TestSite.with("line", Self.line) { site, _ in
            let page = try await site.json("/ogc/collections/line/items?limit=2")
            let next = try #require(page.link("next"))
            let key = next.split(separator: "key=").last!
            #expect(
                await site.outcome("/ogc/collections/line/items?n=3&key=\(key)")
                    == "400 INVALID_INPUT_DATA key")
            #expect(await site.outcome("/ogc/collections/line/items?key=\(key)") == "200")
        }
    }

    @Test func `A filter that is too deep for a query is refused under its name`() async throws {
        try await TestSite.with("line", [Self.line[0]]) { site, _ in
            func filter(_ depth: Int) -> String {
                let text = String(repeating: "NOT%20", count: depth) + "n=1"
                return "/ogc/collections/line/items?filter=\(text)"
            }
            #expect(await site.outcome(filter(30)) == "200")
            #expect(await site.outcome(filter(31)) == "400 INVALID_INPUT_DATA filter")
        }
    }
}
