import Geodesy
import JSONText
import Objects
import QueryLanguage
import TestSupport
import Testing

/// Circles that follow objects, wherever they stand in a clause.
@Suite struct MovingCenterTests {
    private static func watched(_ query: String) throws -> (query: Query, centers: [MovingCenter]) {
        try JSONParser.reading(Array(query.utf8)) { view in
            var reader = MemberReader(params: view)
            return try QueryParser(limits: Limits()).watchedQuery(from: &reader)
        }
    }

    private static func watched(clause: JSONValue) throws -> (query: Query, centers: [MovingCenter])
    {
        try watched(#"{"bucketQuery":{"clause":\#(clause.text)}}"#)
    }

    /// The tree with what `body` gives for the centre of each circle, in the order of the document.
    private static func tree(
        _ clause: JSONValue, _ body: (JSONValue) -> JSONValue
    ) -> JSONValue {
        .object(
            clause.members.map { member in
                switch member.name {
                case "center": .init("center", body(member.value))
                case "clause": .init("clause", tree(member.value, body))
                case "clauses":
                    .init("clauses", .array(member.value.array!.map { tree($0, body) }))
                default: member
                }
            })
    }

    @Test(arguments: Seeds.first(12))
    func `a clause whose centres moved is the clause with the centres there`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let objects = ObjectGenerator(&random)
        for _ in 0..<40 {
            var generator = ClauseGenerator(objects: objects, bucket: OracleBucket())
            let fixed = generator.clause(depth: 5, &random)
            var (followed, places): ([String], [Coordinate]) = ([], [])
            let following = Self.tree(fixed) { center in
                guard random.oneIn(2) else { return center }
                places.append(
                    Coordinate(
                        latitude: random.number(-90...90), longitude: random.number(-180...180)))
                followed.append("o\(followed.count)-\(random.below(3))")
                return .object([
                    "_type": .string("object"), "bucket": .string("couriers"),
                    "_id": .string(followed.last!), "field": .string("at.now"),
                ])
            }
            var rest = places[...]
            let moved = Self.tree(following) { center in
                guard center["_type"]?.string == "object" else { return center }
                let place = rest.removeFirst()
                return .point(place.latitude, place.longitude)
            }
            let (query, centers) = try Self.watched(clause: following)
            #expect(centers.map(\.id.text) == followed, "seed \(seed), \(following.text)")
            #expect(centers.allSatisfy { $0.field == FieldPath("at.now") })
            let positions = Dictionary(
                uniqueKeysWithValues: zip(centers.map(\.ordinal), places))
            let expected = try Self.watched(clause: moved).query.clause
            #expect(
                query.clause.movingCenters(to: positions) == expected,
                "seed \(seed), \(following.text), \(places)")
            // What follows nothing stays.
            #expect(expected.movingCenters(to: [:]) == expected)
        }
    }

    private static let center =
        #"{"_type":"object","bucket":"couriers","_id":"c7","field":"location"}"#
    private static func circle(_ center: String) -> String {
        #"{"bucketQuery":{"clause":{"type":"geodistance","field":"p","center":\#(center)}}}"#
    }

    @Test func `only a watch follows objects`() throws {
        #expect(try Self.watched(Self.circle(Self.center)).centers.count == 1)
        let failure = #expect(throws: ServiceFailure.self) {
            try JSONParser.reading(Array(Self.circle(Self.center).utf8)) { view in
                var reader = MemberReader(params: view)
                return try QueryParser(limits: Limits()).query(from: &reader)
            }
        }
        #expect(failure?.reason == .invalidInputData)
        #expect(failure?.path?.hasPrefix("bucketQuery.clause.center") == true)
    }

    @Test(
        arguments: [
            (#"{"_type":"object"}"#, ".bucket", .invalidInputData),
            (#"{"_type":"object","bucket":"c","_id":"c7","field":"f"}"#, ".bucket", .invalidBucket),
            (#"{"_type":"object","bucket":"couriers","field":"f"}"#, "._id", .invalidInputData),
            (
                #"{"_type":"object","bucket":"couriers","_id":"c","field":"f"}"#, "._id",
                .invalidObjectID
            ),
            (#"{"_type":"object","bucket":"couriers","_id":"c7"}"#, ".field", .invalidInputData),
            (
                #"{"_type":"object","bucket":"couriers","_id":"c7","field":7}"#, ".field",
                .invalidInputData
            ),
            (
                #"{"_type":"object","bucket":"couriers","_id":"c7","field":"f","x":1}"#, ".x",
                .invalidInputData
            ),
            (
                #"{"_type":"Object","bucket":"couriers","_id":"c7","field":"f"}"#, "",
                .invalidInputData
            ),
            (#"["object"]"#, "", .invalidInputData), ("null", "", .invalidInputData),
        ] as [(String, String, ServiceFailure.Reason)])
    func `a centre that names no object is refused with its path`(
        _ center: String, _ path: String, _ reason: ServiceFailure.Reason
    ) throws {
        let failure = #expect(throws: ServiceFailure.self) {
            try Self.watched(Self.circle(center))
        }
        #expect(failure?.reason == reason)
        #expect(failure?.path?.hasPrefix("bucketQuery.clause.center\(path)") == true)
    }

    @Test func `aggregations cannot be watched`() throws {
        let failure = #expect(throws: ServiceFailure.self) {
            try Self.watched(
                #"{"bucketQuery":{"aggregations":[{"type":"COUNT","putAggregationInto":"n"}]}}"#)
        }
        #expect(failure?.reason == .queryNotSupported)
        #expect(failure?.path == "bucketQuery.aggregations")
    }
}
