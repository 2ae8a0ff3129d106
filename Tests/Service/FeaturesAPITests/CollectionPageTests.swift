import JSONText
import TestSupport
import Testing

/// The list of collections page by page, and names that are too long for a description.
@Suite(.timeLimit(.minutes(5))) struct CollectionPageTests {
    private static let place = #"{"_type":"point","lat":1,"lon":2}"#

    /// The ids along the links, and how many pages there were.
    private static func ids(_ site: TestSite, _ target: String) async throws -> ([String], Int) {
        var (ids, pages) = ([String](), 0)
        var next: String? = target
        while let address = next {
            let page = try await site.json(address)
            ids += (page["collections"]?.array ?? []).compactMap { $0["id"]?.string }
            pages += 1
            next = page.link("next").map { String($0.trimmingPrefix("https://geo.example.com")) }
        }
        return (ids, pages)
    }

    @Test func `Pages together have every collection once, in order`() async throws {
        try await TestSite.with { site, service in
            var expected: [String] = []
            for bucket in ["b1", "b10", "b2", "bc"] {
                let fields = ["p", "p.q", "pq", "é"].map { "\"\($0)\":\(Self.place)" }
                try await service.call(
                    "object.put",
                    #"{"bucket":"\#(bucket)","id":"o1","object":{\#(fields.joined(separator: ","))}}"#
                )
                expected += [bucket] + ["p", "p.q", "pq", "é"].map { "\(bucket)@\($0)" }
            }
            for limit in [1, 2, 3, 4, 5, 19, 20, 21, 1_000, 99_999] {
                let (ids, pages) = try await Self.ids(site, "/ogc/collections?limit=\(limit)")
                #expect(ids == expected, "\(limit)")
                #expect(pages == (20 + limit - 1) / limit, "\(limit)")
            }
            let (_, pages) = try await Self.ids(site, "/ogc/collections")
            #expect(pages == 1)
            // What the key names may be gone.
            let (rest, _) = try await Self.ids(site, "/ogc/collections?key=b10@pp")
            #expect(rest == Array(expected[8...]))
            for (query, outcome) in [
                ("limit=0", "400 INVALID_INPUT_DATA limit"),
                ("limit=x", "400 INVALID_INPUT_DATA limit"),
                ("key=users~al~b1", "400 INVALID_INPUT_DATA key"),
                ("key=-", "400 INVALID_BUCKET key"), ("bbox=1", "400 INVALID_INPUT_DATA bbox"),
            ] {
                #expect(await site.outcome("/ogc/collections?\(query)") == outcome)
            }
        }
    }

    @Test func `A page has a hundred collections unless it is asked for more`() async throws {
        let fields = (0..<100).map { "\"p\($0)\":\(Self.place)" }.joined(separator: ",")
        try await TestSite.with { site, service in
            for bucket in ["b1", "b2"] {
                try await service.call(
                    "object.put", #"{"bucket":"\#(bucket)","id":"o1","object":{\#(fields)}}"#)
            }
            let (ids, pages) = try await Self.ids(site, "/ogc/collections")
            #expect(ids.count == 202 && Set(ids).count == 202 && pages == 3)
        }
    }

    @Test func `A name of thousands of dots is a property that no description has`() async throws {
        let dots = String(repeating: ".", count: 30_000)
        let object = #"{"_id":"o1","at":\#(Self.place),"n":1,"\#(dots)":2}"#
        try await TestSite.with("shops", [object]) { site, service in
            let schema = try await site.json("/ogc/collections/shops/schema")
            let properties = schema["properties"]?["properties"]?["properties"]
            #expect(
                properties?.members.map(\.name) == ["_created", "_modified", "_version", "n"])
            let features = try await site.json("/ogc/collections/shops/items").features
            #expect(features.first?["properties"]?[dots]?.int == 2)
            let fields = try await service.call("bucket.fields", #"{"bucket":"shops"}"#)
            #expect(fields["omitted"]?.int == 1)
        }
    }

    @Test func `A place whose name is too long is not listed, but there`() async throws {
        let long = String(repeating: "p", count: 501)
        let object = #"{"_id":"o1","\#(long)":\#(Self.place),"at":\#(Self.place)}"#
        try await TestSite.with("shops", [object]) { site, _ in
            let (ids, _) = try await Self.ids(site, "/ogc/collections")
            #expect(ids == ["shops", "shops@at"])
            #expect(await site.outcome("/ogc/collections/shops@\(long)") == "200")
        }
    }
}
