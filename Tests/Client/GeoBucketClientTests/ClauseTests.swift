import Foundation
import GeoBucketClient
import JSONText
import KiiCompatibility
import TestSupport
import Testing

import struct Objects.Limits
import struct QueryLanguage.MemberReader
import struct QueryLanguage.QueryParser

/// Every way to write a clause, and the document it makes.
@Suite struct ClauseTests {
    private static let tower = GeoPoint(latitude: 35.5, longitude: 139.25)

    private static let documents: [(Clause, String)] = [
        (.all, #"{"type":"all"}"#),
        (.equals("a", value: "x"), #"{"type":"eq","field":"a","value":"x"}"#),
        (.equals("a", value: true), #"{"type":"eq","field":"a","value":true}"#),
        (.equals("a", value: NSNumber(value: true)), #"{"type":"eq","field":"a","value":true}"#),
        (.equals("a", value: NSNumber(value: 1)), #"{"type":"eq","field":"a","value":1}"#),
        (
            .equals("a", value: UInt64.max),
            #"{"type":"eq","field":"a","value":18446744073709551615}"#
        ),
        (.equals("a", value: JSONValue.null), #"{"type":"eq","field":"a","value":null}"#),
        (
            .notEquals("a", value: 1),
            #"{"type":"not","clause":{"type":"eq","field":"a","value":1}}"#
        ),
        (
            .greaterThan("a", value: 1.5),
            #"{"type":"range","field":"a","lowerLimit":1.5,"lowerIncluded":false}"#
        ),
        (.greaterThanOrEqual("a", value: 1), #"{"type":"range","field":"a","lowerLimit":1}"#),
        (
            .lessThan("a", value: "m"),
            #"{"type":"range","field":"a","upperLimit":"m","upperIncluded":false}"#
        ),
        (.lessThanOrEqual("a", value: 1), #"{"type":"range","field":"a","upperLimit":1}"#),
        (
            .range("a", from: 1, through: 2),
            #"{"type":"range","field":"a","lowerLimit":1,"upperLimit":2}"#
        ),
        (
            .range("a", from: 1, lowerIncluded: false, through: 2, upperIncluded: false),
            #"{"type":"range","field":"a","lowerLimit":1,"lowerIncluded":false,"upperLimit":2,"upperIncluded":false}"#
        ),
        (.in("a", value: ["x", "y"]), #"{"type":"in","field":"a","values":["x","y"]}"#),
        (
            .in("a", value: ["x", NSNumber(value: 2)] as [Any]),
            #"{"type":"in","field":"a","values":["x",2]}"#
        ),
        (.startsWith("a", value: "x"), #"{"type":"prefix","field":"a","prefix":"x"}"#),
        (.contains("a", value: "x"), #"{"type":"contains","field":"a","value":"x"}"#),
        (.hasField("a"), #"{"type":"hasField","field":"a"}"#),
        (
            .hasField("a", andType: KiiFieldType.Decimal),
            #"{"type":"hasField","field":"a","fieldType":"DECIMAL"}"#
        ),
        (
            .geoBox(
                "p", northEast: tower, southWest: GeoPoint(latitude: 1, andLongitude: 2)),
            #"{"type":"geobox","field":"p","box":{"ne":{"_type":"point","lat":35.5,"lon":139.25},"sw":{"_type":"point","lat":1.0,"lon":2.0}}}"#
        ),
        (
            .geoDistance("p", center: tower, radius: 3_000, putDistanceInto: "d"),
            #"{"type":"geodistance","field":"p","center":{"_type":"point","lat":35.5,"lon":139.25},"radius":3000.0,"putDistanceInto":"d"}"#
        ),
        (
            .geoDistance("p", center: tower, onEllipsoid: true),
            #"{"type":"geodistance","field":"p","center":{"_type":"point","lat":35.5,"lon":139.25},"model":"wgs84"}"#
        ),
        (
            .geoPolygon("p", rings: [[tower, tower]]),
            #"{"type":"geopolygon","field":"p","polygon":{"type":"Polygon","coordinates":[[[139.25,35.5],[139.25,35.5]]]}}"#
        ),
        (
            .geoPolygon("p", polygons: [[[tower]], [[tower], [tower]]]),
            #"{"type":"geopolygon","field":"p","polygon":{"type":"MultiPolygon","coordinates":[[[[139.25,35.5]]],[[[139.25,35.5]],[[139.25,35.5]]]]}}"#
        ),
        (
            .geoCorridor("p", line: [tower, GeoPoint(latitude: 1, andLongitude: 2)], width: 500),
            #"{"type":"geocorridor","field":"p","line":{"type":"LineString","coordinates":[[139.25,35.5],[2.0,1.0]]},"width":500.0}"#
        ),
        (
            Field<GeoPoint>("p").isWithin(
                7.5, ofLine: [tower, tower], putDistanceInto: "d", putAlongInto: "a"),
            #"{"type":"geocorridor","field":"p","line":{"type":"LineString","coordinates":[[139.25,35.5],[139.25,35.5]]},"width":7.5,"putDistanceInto":"d","putAlongInto":"a"}"#
        ),
        (.andClauses([.all, .all]), #"{"type":"and","clauses":[{"type":"all"},{"type":"all"}]}"#),
        (.orClauses([.all]), #"{"type":"or","clauses":[{"type":"all"}]}"#),
        (
            !(.all && .all || .all),
            #"{"type":"not","clause":{"type":"or","clauses":[{"type":"and","clauses":[{"type":"all"},{"type":"all"}]},{"type":"all"}]}}"#
        ),
        (
            .all || .equals("a", value: 1) || (.all || .equals("a", value: 2)),
            #"{"type":"or","clauses":[{"type":"all"},{"type":"eq","field":"a","value":1},{"type":"all"},{"type":"eq","field":"a","value":2}]}"#
        ),
        (
            .orClauses([.all]) && .andClauses([]) && .andClauses([.all]),
            #"{"type":"and","clauses":[{"type":"or","clauses":[{"type":"all"}]},{"type":"and","clauses":[]},{"type":"all"}]}"#
        ),
        (
            Field<Int>("n") != nil,
            #"{"type":"and","clauses":[{"type":"hasField","field":"n"},{"type":"not","clause":{"type":"hasField","field":"n","fieldType":"NULL"}}]}"#
        ),
        (
            Field<Int?>("n") == nil,
            #"{"type":"or","clauses":[{"type":"not","clause":{"type":"hasField","field":"n"}},{"type":"hasField","field":"n","fieldType":"NULL"}]}"#
        ),
        (Field<String>("s").contains("x"), #"{"type":"contains","field":"s","value":"x"}"#),
        (Field<[Int]>("a").contains(3), #"{"type":"contains","field":"a","value":3}"#),
        (Field<Int>("n") >= 3, #"{"type":"range","field":"n","lowerLimit":3}"#),
        (
            Field<Int>("n") < 3,
            #"{"type":"range","field":"n","upperLimit":3,"upperIncluded":false}"#
        ),
        (
            Field<Bool>("b") != true,
            #"{"type":"not","clause":{"type":"eq","field":"b","value":true}}"#
        ),
        (
            Field<Int>("n").isIn(1...3),
            #"{"type":"range","field":"n","lowerLimit":1,"upperLimit":3}"#
        ),
        (
            Field<Int>("n").isIn(1..<3),
            #"{"type":"range","field":"n","lowerLimit":1,"upperLimit":3,"upperIncluded":false}"#
        ),
        (Field<String>("s").isIn(["x"]), #"{"type":"in","field":"s","values":["x"]}"#),
        (Field<String>("s").startsWith("x"), #"{"type":"prefix","field":"s","prefix":"x"}"#),
        (
            Field<GeoPoint>("p").isWithin(1, of: tower),
            #"{"type":"geodistance","field":"p","center":{"_type":"point","lat":35.5,"lon":139.25},"radius":1.0}"#
        ),
    ]

    @Test(arguments: documents.indices)
    func `A clause is the document it stands for`(_ index: Int) {
        let (clause, document) = Self.documents[index]
        #expect(clause.json.text == document)
    }

    @Test func `The service writes a clause as the client does`() throws {
        var refused: [String] = []
        for (_, document) in Self.documents {
            let query = Array(#"{"bucketQuery":{"clause":\#(document)}}"#.utf8)
            let written = try JSONParser.reading(query) { view -> String? in
                var members = MemberReader(params: view)
                return try? QueryParser(limits: Limits()).bucketQuery(from: &members).clause.json
            }
            if let written { #expect(written == document) } else { refused.append(document) }
        }
        // Two polygons without an inside, and an `and` of nothing: it is the service that refuses them.
        #expect(refused.count == 3)
        #expect(refused.allSatisfy { $0.contains("geopolygon") || $0.contains(#""clauses":[]"#) })
    }

    @Test func `A chain of operators is one level deep, however long`() async throws {
        try await withBucket { bucket in
            _ = try await bucket.putMany((0..<100).map { .object(["n": .int($0)]) })
            let n = Field<Int>("n")
            let any = (1..<40).reduce(n == 0) { $0 || n == $1 }
            #expect(try await bucket.count(BucketQuery(clause: any)) == 40)
            let all = (1..<40).reduce(n != 0) { n != $1 && $0 }
            #expect(try await bucket.count(BucketQuery(clause: all)) == 60)
            let mixed = (0..<40).reduce(n == 99) { $0 || n >= $1 && n < $1 + 1 }
            #expect(try await bucket.count(BucketQuery(clause: mixed)) == 41)
        }
    }

    @Test func `A field is compared with nil`() async throws {
        try await withBucket { bucket in
            _ = try await bucket.putMany([
                .object(["n": .int(1)]), .object(["n": .null]), .object([:]),
                .object(["n": .string("x")]),
            ])
            #expect(try await bucket.count(BucketQuery(clause: Field<Int>("n") != nil)) == 2)
            #expect(try await bucket.count(BucketQuery(clause: Field<Int>("n") == nil)) == 2)
        }
    }

    /// Clauses with what JSON or the earth has not, and where the service finds it.
    private static let refused: [(Clause, String)] = [
        (.equals("a", value: Double.nan), "value"),
        (.notEquals("a", value: JSONValue.double(.nan)), "clause.value"),
        (.equals("a", value: NSNumber(value: Double.infinity) as Any), "value"),
        (.equals("a", value: GeoPoint(latitude: 91, longitude: 0)), "value"),
        (.greaterThan("a", value: Double.nan), "lowerLimit"),
        (.lessThan("a", value: -Double.infinity), "upperLimit"),
        (.in("a", value: [1, Double.nan]), "values[1]"),
        (.contains("a", value: Float.nan), "value"),
        (
            .geoBox(
                "p", northEast: GeoPoint(latitude: .nan, longitude: 0), southWest: tower),
            "box.ne.lat"
        ),
        (.geoDistance("p", center: GeoPoint(latitude: 0, longitude: .infinity)), "center.lon"),
        (.geoDistance("p", center: tower, radius: .nan), "radius"),
        (
            .geoPolygon("p", rings: [[GeoPoint(latitude: .nan, longitude: 1)]]),
            "polygon.coordinates[0][0][1]"
        ),
        (.geoCorridor("p", line: [tower], width: 1), "line.coordinates"),
        (.geoCorridor("p", line: [tower, tower], width: .nan), "width"),
    ]

    @Test func `What no clause can hold is refused by the service with its path`() async throws {
        try await TestService.with { service in
            let address = ServiceAddress(host: "127.0.0.1", port: service.port)
            try await GeoBucketClient.with(address) { client in
                let bucket = client.bucket("mydata")
                try await bucket.createObject().save()
                for (clause, path) in Self.refused {
                    let failure = await #expect(throws: ClientFailure.self) {
                        try await bucket.count(BucketQuery(clause: clause))
                    }
                    guard case .refused(let remote)? = failure else {
                        Issue.record("\(clause.json.text): \(String(describing: failure))")
                        continue
                    }
                    #expect(remote.path == "bucketQuery.clause.\(path)", "\(clause.json.text)")
                }
            }
        }
    }
}
