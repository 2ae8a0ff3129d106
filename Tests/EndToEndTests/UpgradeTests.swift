import EmbeddedBackend
import Foundation
import TestSupport
import Testing

/// Stores that earlier versions wrote are opened, and become stores of this one.
@Suite struct UpgradeTests {
    /// `shops` of every kept store: as the version that wrote it answered.
    private static let shops =
        #"[{"_id":"kiosk-7","_created":1795277127743,"_modified":1795277127848,"_version":2,"name":"Kiosk","open":false,"location":{"_type":"point","lat":35.6586,"lon":139.7454},"hours":{"mo":"9-17"}},{"_id":"north-pole","_created":1795277127743,"_modified":1795277127743,"_version":1,"name":"Pole","location":{"_type":"point","lat":90,"lon":0}},{"_id":"dateline","_created":1795277127743,"_modified":1795277127743,"_version":1,"name":"Line","location":{"_type":"point","lat":-17.5,"lon":180},"depot":{"at":{"_type":"point","lat":-18.1,"lon":178.4}}},{"_id":"plain","_created":1795277127743,"_modified":1795277127743,"_version":1,"name":"no place","n":12345678901234567890,"list":[1,2.50,null]}]"#

    /// The key behind the first two of `shops` by name, as the version that wrote the store gave it.
    private static let nextPage =
        "AgAAAAAAAAADCGRhdGVsaW5lAAAABwRMaW5lAABNN0tVjurFPrgTglpIAQVj"

    /// The schemas of which a store is kept.
    static let schemas: [Int] = {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
        return (names ?? []).compactMap { $0.wholeMatch(of: /schema-(\d+)\.sqlite/) }
            .compactMap { Int($0.1) }.sorted()
    }()

    private static let folder = Program.packageRoot + "/Tests/EndToEndTests/Stores"

    static func path(of schema: Int) -> String { "\(folder)/schema-\(schema).sqlite" }

    /// The schema of a store that nobody serves: SQLite's `user_version`, in the head of the file.
    static func version(of path: String) throws -> Int {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(64).suffix(4)
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    @Test(arguments: schemas)
    func `A store of an earlier schema opens with all it has, and takes writes`(
        schema: Int
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try FileManager.default.copyItem(atPath: Self.path(of: schema), toPath: path)
            try await TestService.with(path: path) { service in
                let all = try await service.text("bucket.query", #"{"bucket":"shops"}"#)
                #expect(all.hasSuffix(#""results":\#(Self.shops)}"#), "\(all)")
                let near = try await service.ids(
                    #"{"type":"geodistance","field":"depot.at","center":\#(point(-18, 178)),"radius":100000}"#,
                    in: "shops")
                #expect(near == ["dateline"])
                let rest = try await service.ids(
                    order: #""orderBy":"name""#,
                    more: #""bestEffortLimit":2,"paginationKey":"\#(Self.nextPage)""#, in: "shops")
                #expect(rest == ["north-pole", "plain"])
                if schema >= 2 {
                    #expect(
                        try await service.get("late", in: "fading")["_expiresAt"]
                            == .int(9_000_000_000_000_000))
                }
                if schema >= 4 {
                    #expect(try await service.ids(in: "owned") == ["mine"])
                }
                if schema >= 5 { try await Self.findArrayPoints(service) }
                let notes = try await service.query(in: "users/alice/notes")
                #expect(notes["results"]?.array?.first?["text"] == .string("Grüße\u{0} 🌍"))
                _ = try await service.put(
                    "kiosk-7", "{}", in: "shops", more: #","expiresAt":9e15,"requestKey":"k""#)
                #expect(try await service.get("kiosk-7", in: "shops")["_version"] == .int(3))
            }
            #expect(try StoreCheck.run(path: path).problems == [])
            let version = try Self.version(of: path)
            #expect(version == Self.schemas.count + 1)
        }
    }

    /// Arrays with GeoPoints that were stored before arrays were indexed, and none of which changed.
    private static func findArrayPoints(_ service: TestService) async throws {
        func near(_ latitude: Double, _ longitude: Double, _ field: String) -> String {
            #"{"type":"geodistance","field":"\#(field)","center":\#(point(latitude, longitude)),"radius":1000}"#
        }
        let expected = [
            (near(36.5, 140.25, "stops"), ["line-1"]), (near(-18.5, -179.5, "stops"), ["line-2"]),
            (near(50, 8, "more.at"), ["line-2"]), (near(35.149, 139.5, "stops"), ["line-4"]),
            (near(3, 4, "deep"), []), (near(1, 2, "home"), ["line-2"]),
        ]
        for (clause, ids) in expected {
            #expect(try await service.ids(clause, in: "routes") == ids, "\(clause)")
        }
        #expect(try await service.get("line-1", in: "routes")["_version"] == .int(1))
        // More than an array may have today: it is found, and can be changed with a higher limit.
        #expect(
            try await service.outcome(
                "object.patch", #"{"bucket":"routes","id":"line-4","object":{"n":1}}"#)
                == "INVALID_INPUT_DATA object.stops")
        let list = try await service.text("bucket.list", "{}")
        #expect(
            list.contains(
                #"{"bucket":"routes","objects":4,"geoFields":["home","more.at","stops"],"#),
            "\(list)")
    }
}
