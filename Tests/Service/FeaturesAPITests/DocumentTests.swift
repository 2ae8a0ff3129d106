import HTTPTypes
import JSONText
import Objects
import ServiceDesk
import TestSupport
import Testing
import WebExchange
import Wire

@testable import GISSites

/// The documents around the features.
@Suite struct DocumentTests {
    private static let shops = [
        #"{"_id":"s1","name":"A","n":1,"open":true,"tags":["x"],"at":{"_type":"point","lat":35.5,"lon":139.5},"address":{"city":"Tokyo","zip":5},"mixed":1}"#,
        #"{"_id":"s2","name":"B","n":2.5,"at":{"_type":"point","lat":-10,"lon":20},"base":{"_type":"point","lat":1,"lon":2},"mixed":"x"}"#,
        #"{"_id":"s3","name":"C"}"#,
    ]

    @Test func `The landing page has the links that programs begin with, with their types`()
        async throws
    {
        try await TestSite.with { site, _ in
            for path in ["/ogc", "/ogc/"] {
                let page = try await site.json(path)
                let links = page["links"]!.array!.map {
                    "\($0["rel"]!.string!) \($0["type"]!.string!) \($0["href"]!.string!)"
                }
                #expect(
                    links.contains(
                        "service-desc application/vnd.oai.openapi+json;version=3.0 "
                            + "https://geo.example.com/ogc/api"))
                #expect(
                    links.contains(
                        "data application/json https://geo.example.com/ogc/collections"))
                #expect(links.contains { $0.hasPrefix("conformance application/json") })
                #expect(links.contains { $0.hasPrefix("self application/json") })
            }
        }
    }

    @Test func `The conformance page names every class`() async throws {
        try await TestSite.with { site, _ in
            let names = try await site.json("/ogc/conformance")["conformsTo"]!.array!.map {
                $0.string!.split(separator: "/").last!
            }
            #expect(
                names == [
                    "core", "oas30", "geojson", "filter", "features-filter", "queryables",
                    "cql2-text", "basic-cql2", "advanced-comparison-operators",
                    "basic-spatial-functions",
                ])
        }
    }

    @Test func `The API document tells of every route and of what clients look for`()
        async throws
    {
        try await TestSite.with { site, _ in
            let answer = try await site.answer("/ogc/api")
            #expect(
                answer.headers[.contentType] == "application/vnd.oai.openapi+json;version=3.0")
            let document = try JSONValue(parsing: answer.bytes!)
            #expect(document["openapi"]?.string == "3.0.3")
            #expect(
                document["paths"]!.names == Route.all.map { $0.path.isEmpty ? "/" : $0.path })
            let parameters = document["components"]!["parameters"]!
            // QGIS takes the size of its pages from here.
            #expect(parameters["limit"]?["schema"]?["maximum"]?.int == 10_000)
            #expect(parameters["limit"]?["schema"]?["default"]?.int == 100)
            // OGC's test suite looks for these.
            for name in ["limit", "bbox", "datetime"] {
                #expect(parameters[name]?["style"]?.string == "form")
                #expect(parameters[name]?["explode"]?.bool == false)
            }
            #expect(parameters["bbox"]?["schema"]?["minItems"]?.int == 4)
            #expect(parameters["bbox"]?["schema"]?["maxItems"]?.int == 6)
            // GDAL sends filters if it finds the draft's name here.
            let languages = parameters["filter-lang"]?["schema"]?["enum"]?.array
            #expect(languages?.contains(.string("cql-text")) == true)
            // Every reference leads somewhere.
            for reference in Self.references(in: document) {
                let target = reference.dropFirst(2).split(separator: "/")
                    .reduce(Optional(document)) { $0?[String($1)] }
                #expect(target != nil, "\(reference)")
            }
        }
    }

    private static func references(in value: JSONValue) -> [String] {
        if let reference = value["$ref"]?.string { return [reference] }
        return (value.array ?? []).flatMap(references)
            + value.members.flatMap { references(in: $0.value) }
    }

    @Test func `Each geo field of a bucket is a collection, its place under the bucket's name too`()
        async throws
    {
        try await TestSite.with("shops", Self.shops) { site, service in
            try await service.call(
                "object.put",
                #"{"bucket":"users/al/notes","id":"n1","object":{"p":{"_type":"point","lat":0,"lon":0}}}"#
            )
            try await service.call("object.put", #"{"bucket":"texts","id":"t1","object":{"a":1}}"#)
            let collections = try await site.json("/ogc/collections")["collections"]!.array!
            #expect(
                collections.map { $0["id"]!.string! } == ["shops", "shops@at", "shops@base"])
            #expect(await site.outcome("/ogc/collections/shops") == "200")
            #expect(await site.outcome("/ogc/collections/shops@at") == "200")
            #expect(await site.outcome("/ogc/collections/shops@base/") == "200")
            #expect(await site.outcome("/ogc/collections/users~al~notes") == "200")
            for missing in ["shops@name", "texts", "nothing", "users", "x", "shops~a", "shops@"] {
                #expect(
                    await site.outcome("/ogc/collections/\(missing)")
                        == "404 BUCKET_NOT_FOUND -", "\(missing)")
                #expect(
                    await site.outcome("/ogc/collections/\(missing)/items")
                        == "404 BUCKET_NOT_FOUND -", "\(missing)")
            }
        }
    }

    @Test func `A collection links its schema as GDAL and as others spell it`() async throws {
        try await TestSite.with("shops", Self.shops) { site, _ in
            let collection = try await site.json("/ogc/collections/shops")
            let own = "https://geo.example.com/ogc/collections/shops"
            #expect(collection.link("self") == own)
            #expect(collection.link("items") == own + "/items")
            #expect(collection.link("describedBy") == own + "/schema")
            #expect(collection.link("describedby") == own + "/schema")
            #expect(collection.link("queryables") == own + "/queryables")
        }
    }

    @Test func `The extent has every point and little else`() async throws {
        try await TestSite.with("shops", Self.shops) { site, service in
            func extent(_ name: String) async throws -> [Double] {
                try await site.json("/ogc/collections/\(name)")["extent"]!["spatial"]!["bbox"]![0]!
                    .array!.map { $0.double! }
            }
            let shops = try await extent("shops")
            for (side, expected) in zip(shops, [20, -10, 139.5, 35.5]) {
                #expect(abs(side - expected) < 2.5, "\(shops)")
            }
            #expect(shops[0] <= 20 && shops[1] <= -10 && shops[2] >= 139.5 && shops[3] >= 35.5)
            let base = try await extent("shops@base")
            #expect(base[0] <= 2 && base[2] >= 2 && base[2] - base[0] < 1e-4, "\(base)")
            for (id, latitude, longitude) in [("np", 90, 0), ("sp", -90, 0), ("am", 0, 180)] {
                try await service.call(
                    "object.put",
                    #"{"bucket":"shops","id":"\#(id)","object":{"at":{"_type":"point","lat":\#(latitude),"lon":\#(longitude)}}}"#
                )
            }
            let world = try await extent("shops")
            #expect(world[0] == -180 && world[1] == -90 && world[3] == 90, "\(world)")
        }
    }

    @Test func `Documents have the type that is asked for, and browsers get JSON`() async throws {
        try await TestSite.with("shops", Self.shops) { site, _ in
            let (queryables, items) = ("/queryables", "/items")
            for (path, accept, type) in [
                (queryables, "*/*", "application/schema+json"),
                (queryables, "application/json", "application/json"),
                (
                    queryables, "application/schema+json, application/json",
                    "application/schema+json"
                ),
                (items, "text/html", "application/geo+json"),
                (items, "application/geo+json, application/json", "application/geo+json"),
                (items, "application/json", "application/json"),
                ("", "application/json", "application/json"), ("", "text/html", "application/json"),
            ] {
                let answer = try await site.answer(
                    "/ogc/collections/shops\(path)", headers: [.accept: accept])
                #expect(answer.headers[.contentType] == type, "\(path) \(accept)")
            }
        }
    }

    @Test func `Other methods and unknown paths and parameters are refused`() async throws {
        try await TestSite.with("shops", Self.shops) { site, _ in
            #expect(await site.outcome("/ogc", method: .post) == "405 METHOD_NOT_ALLOWED -")
            #expect(await site.outcome("/ogc", method: .head) == "200")
            #expect(await site.outcome("/ogc/nothing") == "404 NOT_FOUND -")
            #expect(await site.outcome("/ogc/nothing", method: .post) == "404 NOT_FOUND -")
            #expect(await site.outcome("/ogc/collections/shops/items/s1/x") == "404 NOT_FOUND -")
            for path in ["", "/api", "/conformance", "/collections", "/collections/shops"] {
                #expect(
                    await site.outcome("/ogc\(path)?f=json") == "400 INVALID_INPUT_DATA f",
                    "\(path)")
            }
        }
    }

    /// Operations that nobody may use.
    private struct Closed: WebOperations {
        let limits = Limits()

        func reply<Reply>(
            to call: TypedCall<Reply>, from caller: Caller
        ) async throws(RPCFailure) -> Reply {
            throw RPCFailure(ServiceFailure(.unauthorized, "log in first"))
        }

        func caller(of request: WebRequest) throws(WebFailure) -> Caller {
            Caller(address: request.address)
        }
    }

    @Test func `A request without a login is asked for one that GIS programs can send`() async {
        let site = TestSite(Closed())
        for path in ["/ogc/collections", "/ogc/collections/shops/items"] {
            do throws(WebFailure) {
                _ = try await site.answer(path)
                Issue.record("answered")
            } catch {
                #expect(error.status == .unauthorized)
                let challenges = error.answer.headers[values: .wwwAuthenticate]
                #expect(challenges.map { $0.prefix(6) } == ["Basic ", "Bearer"])
            }
        }
        #expect(await site.outcome("/ogc") == "200")
    }
}
