import JSONText
import Objects
import TestSupport
import Testing

@testable import QueryLanguage

/// A normalized clause says of every object what the clause says.
@Suite struct ClauseNormalizationTests {
    @Test(arguments: Array(1...20) as [UInt64])
    func `a normalized clause is true, false and unknown for the same objects`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        let objects = ObjectGenerator(&random)
        var bucket = OracleBucket()
        for number in 0..<25 {
            let document = objects.document(&random)
            bucket.put("id\(number)", document.value, text: nil, now: 1)
        }
        var truths: Set<Truth> = []
        for _ in 0..<60 {
            var generator = ClauseGenerator(objects: objects, bucket: bucket)
            let text = generator.clause(depth: 5, &random).text
            let clause = try Self.parse(text)
            let normalized = clause.normalized
            #expect(Self.hasNotAtLeavesAlone(normalized), "seed \(seed), \(text)")
            for object in bucket.objects {
                let (before, after) = try JSONParser.reading(Array(object.whole.text.utf8)) {
                    (clause.evaluate(on: $0), normalized.evaluate(on: $0))
                }
                truths.insert(before)
                #expect(before == after, "seed \(seed), \(text), \(object.whole.text)")
            }
        }
        #expect(truths.count == 3)
    }

    @Test func `a range is empty when its limits leave nothing between them`() throws {
        for (members, isEmpty) in [
            (#""lowerLimit":2,"upperLimit":1"#, true), (#""lowerLimit":1,"upperLimit":1"#, false),
            (#""lowerLimit":1,"lowerIncluded":false,"upperLimit":1"#, true),
            (#""lowerLimit":"b","upperLimit":"a""#, true), (#""lowerLimit":5"#, false),
            (#""lowerLimit":"a","upperLimit":"a","upperIncluded":false"#, true),
            (#""lowerLimit":9007199254740993,"upperLimit":9007199254740992.0"#, true),
        ] {
            guard
                case .range(_, let range) = try Self.parse(
                    #"{"type":"range","field":"f",\#(members)}"#)
            else {
                Issue.record("\(members) is no range")
                continue
            }
            #expect(range.isEmpty == isEmpty, "\(members)")
        }
    }

    private static func parse(_ text: String) throws -> Clause {
        let query = #"{"bucketQuery":{"clause":\#(text)}}"#
        return try JSONParser.reading(Array(query.utf8)) { view in
            var reader = MemberReader(params: view)
            return try QueryParser(limits: Limits()).bucketQuery(from: &reader).clause
        }
    }

    private static func hasNotAtLeavesAlone(_ clause: Clause) -> Bool {
        switch clause {
        case .and(let clauses), .or(let clauses): clauses.allSatisfy(hasNotAtLeavesAlone)
        case .not(.and), .not(.or), .not(.not): false
        default: true
        }
    }
}
