import HTTPTypes
import JSONText
import Objects
import Synchronization
import TestSupport
import Testing
import WebExchange

@testable import GISSites

@Suite struct TileRules {
    private static let tile = "/tiles/b1/0/0/0.mvt"

    /// Objects beside each other, some metres apart.
    private static func crowd(_ count: Int) -> [(id: String, members: String)] {
        (0..<count).map { ("o\($0)", #""n":\#($0),"p":\#(point(10, 10 + Double($0) * 1e-7))"#) }
    }

    @Test func `A tile of no more than 500 objects has objects alone, of more it has clusters`()
        async throws
    {
        try await TiledService.with { service in
            try await service.store(Self.crowd(500))
            var layers = try await service.tile("0/0/0")
            #expect(layers.keys.sorted() == ["objects"])
            #expect(layers["objects"]?.features.count == 500)
            try await service.store([("more", #""p":\#(point(10, 10))"#)])
            try await service.store([("far", #""p":\#(point(-60, -60)),"n":7"#)])
            layers = try await service.tile("0/0/0")
            #expect(layers["clusters"]?.all == [["count": "501", "cell": "5/16/15"]])
            #expect(layers["objects"]?.all.map { $0["_id"] } == ["far"])
        }
    }

    @Test func `From zoom 18 on a tile has objects alone, up to clusterCells of them`()
        async throws
    {
        var limits = Limits()
        limits.clusterCells = 1_024
        try await TiledService.with(limits: limits) { [limits] service in
            let many = limits.clusterCells
            try await service.store(
                (0..<many).map { ("o\($0)", #""p":\#(point(1e-5, 1e-5))"#) })
            let objects = try await service.tile("18/131072/131071", "?fields=")
            #expect(objects["objects"]?.features.count == many)
            #expect(objects["clusters"] == nil)
            #expect(try await service.tile("17/65536/65535")["clusters"] != nil)
            try await service.store([("one-more", #""p":\#(point(1e-5, 1e-5))"#)])
            let clusters = try await service.tile("18/131072/131071", "?fields=")
            #expect(clusters["clusters"]?.all.map { $0["count"] } == [String(many + 1)])
        }
    }

    @Test func `Attributes are _id and the fields; null is none, objects and arrays are JSON text`()
        async throws
    {
        try await TiledService.with { service in
            let members =
                #""p":\#(point(0, 0)),"s":"x","i":-5,"u":7,"d":1.5,"b":true,"z":null,"#
                + #""o":{"a":[1]},"l":[1,"2"]"#
            try await service.store([("a1", members)])
            var whole = try await service.tile("3/4/4")["objects"]!.all[0]
            for predefined in ["_created", "_modified", "_version"] { whole[predefined] = nil }
            #expect(
                whole == [
                    "_id": "a1", "s": "x", "i": "-5", "u": "7", "d": "double 1.5", "b": "true",
                    "o": #"{"a":[1]}"#, "l": #"[1,"2"]"#,
                ])
            let some = try await service.tile("3/4/4", "?fields=s,p")["objects"]!.all[0]
            #expect(some == ["_id": "a1", "s": "x", "p": point(0, 0)])
            let none = try await service.tile("3/4/4", "?fields=")["objects"]!.all[0]
            #expect(none == ["_id": "a1"])
        }
    }

    @Test func `An object with several places in a cell is one feature with several points`()
        async throws
    {
        try await TiledService.with { service in
            let places = [(1.0, 1.0), (1, 1.5), (1, 1), (-1, 1)].map { point($0.0, $0.1) }
            try await service.store([("a1", #""p":[\#(places.joined(separator: ","))]"#)])
            let layer = try await service.tile("0/0/0")["objects"]!
            #expect(layer.all.map { $0["_id"] } == ["a1", "a1"])
            let points = layer.features.map(\.points)
            #expect(points == [[[2_059, 2_036], [2_065, 2_036]], [[2_059, 2_059]]])
            #expect(layer.version == 2 && layer.extent == 4_096)
        }
    }

    @Test func `A tile without objects is 204, one of no collection 404`() async throws {
        try await TiledService.with { service in
            #expect(await service.refusal(Self.tile) == "404 -")
            #expect(await service.refusal("/tiles/b1.json") == "404 -")
            try await service.store([("a1", #""p":\#(point(10, 10))"#)])
            #expect(try await service.get(Self.tile).status == .ok)
            #expect(try await service.get("/tiles/b1/1/0/0.mvt").status == .noContent)
            #expect(try await service.get(Self.tile + "?filter=n%3D1").status == .noContent)
            #expect(try await service.get("/tiles/b1.json?filter=n%3D1").status == .ok)
            for target in ["/tiles/b1@q/0/0/0.mvt", "/tiles/b1@q.json", "/tiles/b2.json"] {
                #expect(await service.refusal(target) == "404 -", "\(target)")
            }
            try await service.store([("a1", #""n":1"#)], in: "b2")
            #expect(await service.refusal("/tiles/b2/0/0/0.mvt") == "404 -")
            try await service.service.call("bucket.delete", #"{"bucket":"b1"}"#)
            #expect(await service.refusal(Self.tile) == "404 -")
            try await service.store([("a1", #""p":\#(point(10, 10))"#)])
            let type = try await service.get(Self.tile).headers[.contentType]
            #expect(type == "application/vnd.mapbox-vector-tile")
        }
    }

    @Test(arguments: [
        ("/tiles/b1/23/0/0.mvt", "400 z"), ("/tiles/b1/-1/0/0.mvt", "400 z"),
        ("/tiles/b1/01/0/0.mvt", "400 z"), ("/tiles/b1/1/2/0.mvt", "400 x"),
        ("/tiles/b1/22/4194304/0.mvt", "400 x"), ("/tiles/b1/1/0/2.mvt", "400 y"),
        ("/tiles/b1/1/0/+1.mvt", "400 y"), ("/tiles/b1/1/0/.mvt", "400 y"),
        ("/tiles/b1/1/x/0.mvt", "400 x"), ("/tiles/b1/1/0/0.png", "404 -"),
        ("/tiles/b1/1/0/0.mvt/", "404 -"), ("/tiles", "404 -"), ("/tiles/b1", "404 -"),
        ("/tiles/users/0/0/0.mvt", "400 collection"), ("/tiles/b1@/0/0/0.mvt", "400 collection"),
        ("/tiles/.json", "400 collection"), ("/tiles/b1/0/0/0.mvt?fitler=a", "400 fitler"),
        ("/tiles/b1/0/0/0.mvt?filter=a%3D", "400 filter"),
        ("/tiles/b1/0/0/0.mvt?filter=a%3D1&filter=b%3D1", "400 filter"),
        ("/tiles/b1/0/0/0.mvt?filter=a%3D1&query=%7B%7D", "400 filter"),
        ("/tiles/b1/0/0/0.mvt?query=%7B%7D,%22bucket%22:%22b2%22", "400 query"),
        ("/tiles/b1/0/0/0.mvt?query=5", "400 query"),
        ("/tiles/b1/0/0/0.mvt?query=%7B%22clause%22:5%7D", "400 query.clause"),
        ("/tiles/b1/0/0/0.mvt?query=%7B%22claus%22:5%7D", "400 query.claus"),
        ("/tiles/b1.json?fields=a&z=5", "400 z"),
        ("/tiles/b1/0/0/0.mvt?buffer=257", "400 buffer"),
        ("/tiles/b1/0/0/0.mvt?buffer=-1", "400 buffer"),
        ("/tiles/b1/0/0/0.mvt?buffer=", "400 buffer"),
        ("/tiles/b1/0/0/0.mvt?filter=a%3D1&filter-lang=sql", "400 filter-lang"),
        ("/tiles/b1/0/0/0.mvt?filter=a%20~%201&filter-lang=cql2-text", "400 filter"),
    ])
    func `A request that is not valid is refused with its place`(
        target: String, refusal: String
    ) async throws {
        try await TiledService.with { service in
            #expect(await service.refusal(target) == refusal)
        }
    }

    @Test func `Only GET and HEAD are allowed`() async throws {
        try await TiledService.with { service in
            await #expect {
                _ = try await service.site.answer(WebRequest(.put, Self.tile))
            } throws: { error in
                let failure = error as? WebFailure
                return failure?.status == .methodNotAllowed
                    && failure?.headers[.allow] == "GET, HEAD"
            }
        }
    }

    // MARK: Tags

    /// The tag of a tile, and the status of a request that has the tag already.
    private static func tag(
        of target: String = tile, _ service: TiledService
    ) async throws -> String {
        let answer = try await service.get(target)
        #expect(answer.headers[.cacheControl] == "no-cache, private")
        let tag = try #require(answer.headers[.eTag])
        for known in [tag, "\"x\", W/\(tag)", "*"] {
            let again = try await service.get(target, ifNoneMatch: known)
            #expect(again.status == .notModified || answer.status == .noContent)
            #expect(again.headers[.eTag] == tag && again.bytes == [])
        }
        #expect(try await service.get(target, ifNoneMatch: "\"x\"").status == answer.status)
        return tag
    }

    @Test func `A tag is that of its tile and its question`() async throws {
        try await TiledService.with { service in
            try await service.store(Self.crowd(3))
            try await service.store(Self.crowd(3), in: "b2")
            let targets = [
                Self.tile, "/tiles/b1/1/1/0.mvt", "/tiles/b2/0/0/0.mvt", "/tiles/b1@p/0/0/0.mvt",
                Self.tile + "?fields=n", Self.tile + "?fields=", Self.tile + "?filter=n%3D1",
                Self.tile + "?filter=n%3D2", "/tiles/b1.json", "/tiles/b1.json?filter=n%3D1",
            ]
            var tags: Set<String> = []
            for target in targets { tags.insert(try await Self.tag(of: target, service)) }
            #expect(tags.count == targets.count)
        }
    }

    @Test func `A tag changes with each change of the bucket, and with no other`() async throws {
        try await TiledService.with { service in
            var tags: [String] = []
            func expectNewTag(_ what: String) async throws {
                let tag = try await Self.tag(service)
                #expect(!tags.contains(tag), "\(what)")
                tags.append(tag)
            }
            try await service.store(Self.crowd(1))
            try await expectNewTag("created")
            try await service.store(Self.crowd(1))
            try await expectNewTag("replaced by itself")
            try await service.store(Self.crowd(2))
            try await expectNewTag("created another")
            try await service.service.call("object.delete", #"{"bucket":"b1","id":"o1"}"#)
            try await expectNewTag("deleted")
            try await service.store(Self.crowd(5), in: "b2")
            #expect(try await Self.tag(service) == tags.last)
            try await service.service.call("bucket.delete", #"{"bucket":"b1"}"#)
            await #expect {
                _ = try await service.get(Self.tile, ifNoneMatch: tags.last)
            } throws: {
                ($0 as? WebFailure)?.status == .notFound
            }
            try await service.store(Self.crowd(1))
            try await expectNewTag("deleted and made again")
        }
    }

    @Test func `A tag changes when an object expires, before anything removes it`() async throws {
        let clock = TestClock(1_000_000)
        try await TiledService.with(clock: clock) { service in
            try await service.store(Self.crowd(2))
            try await service.service.call(
                "object.put",
                #"{"bucket":"b1","id":"x1","object":{"p":\#(point(0, 0))},"expiresAt":2000000}"#)
            clock.now = 1_999_999
            let before = try await Self.tag(service)
            #expect(try await service.tile("0/0/0")["objects"]?.features.count == 3)
            clock.now = 2_000_000
            let after = try await Self.tag(service)
            #expect(after != before)
            #expect(try await service.get(Self.tile, ifNoneMatch: before).status == .ok)
            #expect(try await service.tile("0/0/0")["objects"]?.features.count == 2)
        }
    }

    @Test func `A tag of before a restart is not one of after it, whatever was written`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let tags = Tags()
            for _ in 0..<3 {
                try await TiledService.with(path: path) { service in
                    try await service.store(Self.crowd(2))
                    #expect(tags.add(try await Self.tag(service)))
                    try await service.service.call("bucket.delete", #"{"bucket":"b1"}"#)
                    try await service.store(Self.crowd(2))
                    #expect(tags.add(try await Self.tag(service)))
                }
            }
        }
    }

    // MARK: TileJSON

    @Test func `TileJSON tells where the tiles are, and what is in them`() async throws {
        try await TiledService.with { service in
            let members =
                #""place":\#(point(35.5, 139.7)),"n":1,"s":"x","in":{"deep":1},"a.b":true,"l":[]"#
            try await service.store(
                [("a1", members), ("b1", #""place":\#(point(35.6, 139.8)),"n":"many""#)],
                in: "users/alice/notes")
            let answer = try await service.get(
                "/tiles/users~alice~notes@place.json?filter=n%20exists")
            #expect(answer.headers[.contentType] == "application/json")
            let json = try JSONValue(parsing: answer.bytes!)
            #expect(json["tilejson"]?.string == "3.0.0")
            #expect(json["minzoom"]?.int == 0 && json["maxzoom"]?.int == 22)
            #expect(
                json["tiles"]?.array?.first?.string
                    == "https://geo.example.com/tiles/users~alice~notes@place/{z}/{x}/{y}.mvt"
                    + "?filter=n%20exists")
            let bounds = json["bounds"]?.array?.compactMap(\.double) ?? []
            #expect(bounds.count == 4)
            let places = [(139.7, -1.0), (35.5, -1), (139.8, 1), (35.6, 1)]
            for (edge, (place, sign)) in zip(bounds, places) {
                let beyond = (edge - place) * sign
                #expect((0...0.02).contains(beyond), "\(bounds)")
            }
            let layers = json["vector_layers"]?.array ?? []
            #expect(layers.map { $0["id"]?.string } == ["clusters", "objects"])
            #expect(layers[0]["fields"]?.text == #"{"count":"Number","cell":"String"}"#)
            #expect(
                layers[1]["fields"]?.text
                    == #"{"_id":"String","_created":"Number","_modified":"Number","#
                    + #""_version":"Number","n":"Mixed","s":"String","in":"String","#
                    + #""a.b":"Boolean","l":"String"}"#)
        }
    }

    @Test func `The bounds have every place, and a filter that nothing matches has none`()
        async throws
    {
        for seed in 1...6 as ClosedRange<UInt64> {
            let random = SplitMix64(seed: seed)
            try await TiledService.with { [random] service in
                var random = random
                let spread = random.pick([0, 1e-6, 0.1, 5, 60] as [Double])
                let latitude = random.number(-80...80)
                let longitude = random.pick([-180, 7, 180, 0] as [Double])
                let places = (0..<20).map { _ in
                    (
                        min(max(latitude + random.number(-spread...spread), -85), 85),
                        min(max(longitude + random.number(-spread...spread), -180), 180)
                    )
                }
                try await service.store(
                    places.enumerated().map { ("o\($0)", #""p":\#(point($1.0, $1.1))"#) })
                let nothing = try await service.get("/tiles/b1.json?filter=n%3D1")
                let empty = try JSONValue(parsing: nothing.bytes!)
                #expect(empty["bounds"] == nil && empty["tiles"] != nil)
                let answer = try await service.get("/tiles/b1.json")
                let json = try JSONValue(parsing: answer.bytes!)
                let bounds = json["bounds"]?.array?.compactMap(\.double) ?? []
                try #require(bounds.count == 4)
                for (latitude, longitude) in places {
                    let west = longitude == 180 ? -180 : longitude
                    #expect(bounds[0] <= west + 1e-6 && west <= bounds[2] + 1e-6, "seed \(seed)")
                    #expect(bounds[1] <= latitude + 1e-6, "seed \(seed)")
                    #expect(latitude <= bounds[3] + 1e-6, "seed \(seed)")
                }
            }
        }
    }
}

/// The tags that were seen.
private final class Tags: Sendable {
    private let seen = Mutex<Set<String>>([])

    /// - Returns: whether it was not seen before.
    func add(_ tag: String) -> Bool { seen.withLock { $0.insert(tag).inserted } }
}
