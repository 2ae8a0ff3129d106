import Foundation
import GeoBucketClient
import KiiCompatibility
import Testing

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
        (.equals("a", value: Int?.none), #"{"type":"eq","field":"a","value":null}"#),
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
        (.in("a", value: ["x", "y"]), #"{"type":"in","field":"a","values":["x","y"]}"#),
        (
            .in("a", value: ["x", NSNumber(value: 2)] as [Any]),
            #"{"type":"in","field":"a","values":["x",2]}"#
        ),
        (.startsWith("a", value: "x"), #"{"type":"prefix","field":"a","prefix":"x"}"#),
        (.contains("a", value: "x"), #"{"type":"contains","field":"a","value":"x"}"#),
        (.hasField("a"), #"{"type":"hasField","field":"a"}"#),
        (
            .hasField("a", andType: .decimal),
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
        (.andClauses([.all, .all]), #"{"type":"and","clauses":[{"type":"all"},{"type":"all"}]}"#),
        (.orClauses([.all]), #"{"type":"or","clauses":[{"type":"all"}]}"#),
        (
            !(.all && .all || .all),
            #"{"type":"not","clause":{"type":"or","clauses":[{"type":"and","clauses":[{"type":"all"},{"type":"all"}]},{"type":"all"}]}}"#
        ),
        (Field<Int>("n") >= 3, #"{"type":"range","field":"n","lowerLimit":3}"#),
        (
            Field<Int>("n") < 3,
            #"{"type":"range","field":"n","upperLimit":3,"upperIncluded":false}"#
        ),
        (
            Field<Bool>("b") != true,
            #"{"type":"not","clause":{"type":"eq","field":"b","value":true}}"#
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

    @Test func `What JSON cannot hold in a clause is refused by the service, nothing traps`() {
        #expect(
            Clause.lessThan("a", value: Double.nan).json.text
                == #"{"type":"range","field":"a","upperLimit":"nan","upperIncluded":false}"#)
    }
}
