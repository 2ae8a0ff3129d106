import Foundation
import TestSupport
import Testing

@testable import geobucket

/// What the flags of `query`, `count` and `watch` ask for: the same as a clause given with --clause.
@Suite struct ClauseFlagTests {
    private static func options(_ flags: [String]) throws -> ClauseOptions {
        try ClauseOptions.parse(["--bucket", "b1"] + flags)
    }

    private static let center = #"{"_type":"point","lat":35.5,"lon":-139.25}"#
    private static let circle =
        #"{"type":"geodistance","field":"location","center":\#(center),"radius":5000,"putDistanceInto":"distance"}"#

    @Test(
        arguments: [
            ([], #"{"type":"all"}"#),
            (["--near", "35.5,-139.25", "--within", "5km"], circle),
            (
                ["--near", "35.5,-139.25", "--within", "3nmi", "--field", "a.b"],
                circle.replacing("location", with: "a.b").replacing("5000", with: "5556")
            ),
            (
                ["--box", "-21,176,-12,-178"],
                #"{"type":"geobox","field":"location","box":{"ne":\#(point(-12, -178)),"sw":\#(point(-21, 176))}}"#
            ),
            (["--where", "a = 1"], #"{"type":"eq","field":"a","value":1}"#),
            (
                ["--where", "a = 1 or not b = x", "--where", "c ^= y"],
                #"{"type":"and","clauses":[{"type":"or","clauses":[{"type":"eq","field":"a","value":1},{"type":"not","clause":{"type":"eq","field":"b","value":"x"}}]},{"type":"prefix","field":"c","prefix":"y"}]}"#
            ),
            (
                ["--clause", #"{"type":"all"}"#, "--near", "35.5,-139.25", "--within", "5000"],
                #"{"type":"and","clauses":[\#(circle),{"type":"all"}]}"#
            ),
        ])
    func `Flags ask for what a clause asks for`(_ flags: [String], _ clause: String) throws {
        #expect(try Self.options(flags).clause() == Self.options(["--clause", clause]).clause())
    }

    @Test func `Of several conditions all must hold, a text in JSON is a clause and no more`()
        throws
    {
        #expect(throws: (any Error).self) {
            try Self.options(["--clause", #"{"type":"all"},"orderBy":"a""#]).clause()
        }
        for text in ["", "{", "[]", "1", #"{"type":"no"}"#, #"{"type":"eq"}"#, "{} {}"] {
            #expect(throws: (any Error).self, "\(text)") {
                try Self.options(["--clause", text]).clause()
            }
        }
    }

    @Test(arguments: [
        (["--within", "5km"], "--within needs --near"), (["--near", "91,0"], "--near"),
        (["--near", "0,0", "--within", "0"], "--within"),
        (["--near", "0,0", "--within", "20020km"], "--within: 20020km is outside"),
        (["--box", "1,0,0,1"], "--box"), (["--where", "a ="], "--where"),
        (["--clause", #"{"type":"eq","field":"a"}"#], "--clause"),
    ])
    func `A flag at fault is named`(_ flags: [String], _ words: String) throws {
        let options = try Self.options(flags)
        do {
            _ = try options.clause()
            Issue.record("\(flags) was accepted")
        } catch {
            #expect(ClauseOptions.message(for: error).contains(words))
        }
    }

    @Test func `Where another flag has the centre, --within is its radius and --near is refused`()
        throws
    {
        let options = try Self.options(["--within", "2km", "--where", "a = 1"])
        #expect(
            try options.clause(isCentered: true) == Self.options(["--where", "a = 1"]).clause())
        #expect(try options.withinMeters() == 2_000)
        #expect(throws: (any Error).self) {
            try Self.options(["--near", "1,2"]).clause(isCentered: true)
        }
    }

    // MARK: Order

    /// The order as a client sends it.
    private static func order(_ flags: [String], _ text: String?) throws -> String {
        let options = try options(flags)
        let request = PageRequest(
            bucket: "b1",
            query: .init(clause: try options.clause(), order: try options.order(text)))
        let params = String(decoding: request.params(after: nil), as: UTF8.self)
        guard let start = params.range(of: #""orderBy":"#) else { return "" }
        return String(params[start.upperBound...].dropLast(2))
    }

    /// The flags of a corridor along a line in a file of this folder.
    private static func corridor(in folder: String) throws -> [String] {
        let path = folder + "/line.geojson"
        try #"{"type":"LineString","coordinates":[[0,0],[1,0]]}"#.write(
            toFile: path, atomically: true, encoding: .utf8)
        return ["--along", path, "--width", "1km"]
    }

    @Test func `The first distance that objects report orders the answer, unless a flag does`()
        async throws
    {
        let near = ["--near", "1,2"]
        #expect(try Self.order([], nil) == "")
        #expect(try Self.order(near, nil).contains("_calculated.distance"))
        #expect(try Self.order(near, "name").contains("name"))
        #expect(try !Self.order(near, "name").contains("distance"))
        try await withTemporaryFolder { folder in
            let line = try Self.corridor(in: folder)
            #expect(try Self.options(line).reportedNames == ["along", "distance"])
            #expect(try Self.order(line, nil).contains("_calculated.along"))
            #expect(try Self.options(line + near).reportedNames == ["distance", "along"])
            #expect(try Self.order(line + near, nil).contains("_calculated.distance"))
        }
    }

    @Test func `A name in the order is a distance only if one of that name is reported`() throws {
        for name in ["distance", "_calculated.distance"] {
            let found = try Self.order(["--near", "1,2"], name)
            #expect(found.contains("_calculated.distance"), "\(found)")
        }
        #expect(throws: (any Error).self) { try Self.order([], "distance") }
        #expect(try !Self.order([], "distances").contains("_calculated"))
        #expect(try !Self.order(["--near", "1,2"], "along").contains("_calculated"))
        let several = try Self.order(["--near", "1,2"], "distance:desc,name:asc,n:desc")
        #expect(several.split(separator: "}").count { $0.contains(":true") } == 2, "\(several)")
    }

    @Test(arguments: ["name:up", "name:desc:asc", "a,b:", ":desc", "a:DESC"])
    func `What is no field, field:asc or field:desc is refused`(_ text: String) throws {
        #expect(throws: (any Error).self) { try Self.options([]).order(text) }
    }

    // MARK: Geometry

    @Test func `GeoJSON has the field that the flags speak of, else none is named`() async throws {
        #expect(try Self.options([]).geometryField == nil)
        #expect(try Self.options(["--where", "a = 1"]).geometryField == nil)
        #expect(try Self.options(["--box", "0,0,1,1"]).geometryField == "location")
        #expect(try Self.options(["--near", "1,2", "--field", "a.b"]).geometryField == "a.b")
        #expect(try Self.options(["--field", "at"]).geometryField == "at")
        try await withTemporaryFolder { folder in
            let line = try Self.corridor(in: folder)
            #expect(try Self.options(line).geometryField == "location")
        }
    }
}
