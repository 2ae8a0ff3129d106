import JSONText
import Objects
import QueryLanguage
import TestSupport
import Testing

/// A clause and its document say the same.
@Suite struct ClauseRenderingTests {
    @Test(arguments: Array(1...12) as [UInt64])
    func `a clause that is written and read again is the same clause`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let objects = ObjectGenerator(&random)
        for _ in 0..<60 {
            var generator = ClauseGenerator(objects: objects, bucket: OracleBucket())
            let text = generator.clause(depth: 4, &random).text
            let clause = try Self.parse(text)
            #expect(try Self.parse(clause.json) == clause, "seed \(seed), \(text)")
        }
    }

    @Test func `a polygon is written as GeoJSON, a model by its name unless it is the sphere`()
        throws
    {
        let polygon =
            #"{"type":"geopolygon","field":"f","polygon":{"type":"Polygon","coordinates":[[[170.0,1.5],[180.0,2.0],[-180.0,3.0],[170.0,1.5]]]}}"#
        #expect(try Self.parse(polygon).json == polygon)
        let center = #""center":{"_type":"point","lat":1.0,"lon":2.0}"#
        let distance = #"{"type":"geodistance","field":"f",\#(center)"#
        let wgs84 = distance + #","model":"wgs84"}"#
        #expect(try Self.parse(wgs84).json == wgs84)
        #expect(try Self.parse(distance + #","model":"sphere"}"#).json == distance + "}")
    }

    @Test func `a corridor is written as it was read, with what it reports`() throws {
        let corridor =
            #"{"type":"geocorridor","field":"f","line":{"type":"LineString","coordinates":[[170.0,1.5],[-180.0,2.0]]},"width":2.5,"putDistanceInto":"d","putAlongInto":"a"}"#
        #expect(try Self.parse(corridor).json == corridor)
    }

    private static func parse(_ text: String) throws -> Clause {
        let query = #"{"bucketQuery":{"clause":\#(text)}}"#
        return try JSONParser.reading(Array(query.utf8)) { view in
            var reader = MemberReader(params: view)
            return try QueryParser(limits: Limits()).bucketQuery(from: &reader).clause
        }
    }
}
