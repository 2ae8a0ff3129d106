import BackendContract
import JSONText
import Objects
import QueryLanguage
import TestSupport
import Testing

@testable import InMemoryEngine

/// A plan in one line, as the log of slow queries has it: nothing of what a client looked for.
@Suite struct PlanOutlineTests {
    private static func outline(_ text: String) throws -> String {
        let engine = makeEngine()
        var random = SplitMix64(seed: 1)
        try engine.load(objects: 100, buckets: [shops], &random)
        let query = try JSONParser.reading(Array(text.utf8)) { view in
            var members = MemberReader(params: view)
            return try QueryParser(limits: Limits()).query(from: &members)
        }
        return try #require(engine.prepare(.page(query, in: shops)).outline).plan
    }

    private static func circle(_ name: String = "location") -> String {
        #"{"type":"geodistance","field":"\#(name)","center":{"_type":"point","lat":51.25,"lon":7.75},"radius":51250}"#
    }

    @Test(arguments: [
        ("{}", "scan; in order as found"),
        (
            #"{"bucketQuery":{"clause":{"type":"eq","field":"name","value":"secret"}}}"#,
            "scan, reads documents for name; in order as found"
        ),
        (
            #"{"bucketQuery":{"clause":{"type":"eq","field":"name","value":"secret"},"orderBy":"rank"}}"#,
            "scan, reads documents for name; in order sorted by documents"
        ),
        (#"{"bucketQuery":{"clause":\#(circle())}}"#, "circle location; in order sorted"),
        (
            #"{"bucketQuery":{"clause":{"type":"or","clauses":[\#(circle("here")),{"type":"prefix","field":"name","prefix":"secret"}]}}}"#,
            "scan, reads documents for here, name; in order as found"
        ),
        (
            #"{"bucketQuery":{"clause":{"type":"eq","field":"_id","value":"secret"}}}"#,
            "ids; in order as found"
        ),
    ])
    func `an outline names the path, the fields and the order`(
        query: String, outline: String
    ) throws {
        let found = try Self.outline(query)
        #expect(found == outline)
    }

    @Test func `no value of a query is in its outline`() throws {
        let values = [
            #"{"type":"eq","field":"name","value":"secret"}"#,
            #"{"type":"in","field":"name","values":["secret",51250]}"#,
            #"{"type":"range","field":"name","lowerLimit":"secret"}"#,
            #"{"type":"prefix","field":"name","prefix":"secret"}"#,
            #"{"type":"contains","field":"name","value":"secret"}"#,
            #"{"type":"eq","field":"_id","value":"secret"}"#, Self.circle(), Self.circle("name"),
        ]
        for a in values {
            for b in values {
                for clause in [
                    a, #"{"type":"not","clause":\#(a)}"#,
                    #"{"type":"and","clauses":[\#(a),\#(b)]}"#,
                    #"{"type":"or","clauses":[\#(a),\#(b)]}"#,
                ] {
                    let found = try Self.outline(#"{"bucketQuery":{"clause":\#(clause)}}"#)
                    for value in ["secret", "51250", "51.25", "7.75"] {
                        #expect(!found.contains(value), "\(clause)")
                    }
                }
            }
        }
    }

    @Test(arguments: [(10, ""), (11, " and 1 more"), (300, " and 290 more")])
    func `an outline names ten fields, and how many more there are`(
        count: Int, more: String
    ) throws {
        let clauses = (0..<count).map {
            #"{"type":"eq","field":"field\#(1_000 + $0)","value":1}"#
        }
        let found = try Self.outline(
            #"{"bucketQuery":{"clause":{"type":"and","clauses":[\#(clauses.joined(separator: ","))]}}}"#
        )
        #expect(found.contains("field1009\(more); in order"), "\(found)")
        #expect(!found.contains("field1010"))
    }

    @Test func `an outline is one line, however the fields are called`() throws {
        let long = String(repeating: "x", count: 5_000)
        let found = try Self.outline(
            #"{"bucketQuery":{"clause":{"type":"eq","field":"\#(long)","value":1}}}"#)
        #expect(found.count < 200)
    }
}
