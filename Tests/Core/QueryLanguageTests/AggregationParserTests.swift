import JSONText
import Objects
import QueryLanguage
import TestSupport
import Testing

@Suite struct AggregationParserTests {
    private static func parse(_ list: String, _ limits: Limits = Limits()) throws -> [Aggregation] {
        let params = #"{"bucketQuery":{"aggregations":\#(list)}}"#
        return try JSONParser.reading(Array(params.utf8)) { view in
            var reader = MemberReader(params: view)
            return try QueryParser(limits: limits).query(from: &reader).aggregations
        }
    }

    @Test func `every kind is read, and written as it was read`() throws {
        let texts = [
            #"{"type":"COUNT","putAggregationInto":"n"}"#,
            #"{"type":"GROUP","field":"kind","limit":7,"putAggregationInto":"g"}"#,
            #"{"type":"MIN","field":"_created","putAggregationInto":"a"}"#,
            #"{"type":"MAX","field":"home.n","putAggregationInto":"b"}"#,
            #"{"type":"SUM","field":"","putAggregationInto":"c"}"#,
            #"{"type":"AVG","field":"_owner","putAggregationInto":"d"}"#,
        ]
        let aggregations = try Self.parse("[\(texts.joined(separator: ","))]")
        #expect(
            aggregations == [
                Aggregation(.count, into: "n"),
                Aggregation(.group(FieldPath("kind"), limit: 7), into: "g"),
                Aggregation(.reduce(FieldPath("_created"), .minimum), into: "a"),
                Aggregation(.reduce(FieldPath("home.n"), .maximum), into: "b"),
                Aggregation(.reduce(FieldPath(""), .sum), into: "c"),
                Aggregation(.reduce(FieldPath("_owner"), .average), into: "d"),
            ])
        for (aggregation, text) in zip(aggregations, texts) {
            var writer = JSONWriter()
            aggregation.write(to: &writer)
            #expect(String(decoding: writer.bytes, as: UTF8.self) == text)
        }
    }

    @Test func `a GROUP without a limit has 50 values, or as many as there may be`() throws {
        let group = #"[{"type":"GROUP","field":"f","putAggregationInto":"g"}]"#
        var limits = Limits()
        #expect(try Self.parse(group, limits)[0].function == .group(FieldPath("f"), limit: 50))
        limits.groupValues = 9
        #expect(try Self.parse(group, limits)[0].function == .group(FieldPath("f"), limit: 9))
    }

    private static func list(_ count: Int) -> String {
        let texts = (0..<count).map { #"{"type":"COUNT","putAggregationInto":"n\#($0)"}"# }
        return "[\(texts.joined(separator: ","))]"
    }

    private static func group(_ limit: String) -> String {
        #"[{"type":"GROUP","field":"f","limit":\#(limit),"putAggregationInto":"g"}]"#
    }

    @Test func `limits hold at their bounds`() throws {
        #expect(try Self.parse(Self.list(15)).count == 15)
        #expect(try Self.parse(Self.list(16)).count == 16)
        #expect(throws: ServiceFailure.self) { try Self.parse(Self.list(17)) }
        for limit in ["1", "2", "999", "1000", "5.0"] {
            #expect(try Self.parse(Self.group(limit)).count == 1, "\(limit)")
        }
    }

    @Test(arguments: [
        ("null", ""), ("{}", ""), ("7", ""), ("[5]", "[0]"), ("[{}]", "[0].type"),
        (#"[{"type":"COUNT"}]"#, "[0].putAggregationInto"),
        (#"[{"type":"COUNT","putAggregationInto":5}]"#, "[0].putAggregationInto"),
        (#"[{"type":"COUNT","putAggregationInto":"a.b"}]"#, "[0].putAggregationInto"),
        (#"[{"type":"COUNT","putAggregationInto":"n","field":"f"}]"#, "[0].field"),
        (#"[{"type":"MEDIAN","field":"f","putAggregationInto":"n"}]"#, "[0].type"),
        (#"[{"type":"sum","field":"f","putAggregationInto":"n"}]"#, "[0].type"),
        (#"[{"type":"SUM","putAggregationInto":"n"}]"#, "[0].field"),
        (#"[{"type":"AVG","field":7,"putAggregationInto":"n"}]"#, "[0].field"),
        (#"[{"type":"MIN","field":"_calculated","putAggregationInto":"n"}]"#, "[0].field"),
        (#"[{"type":"GROUP","field":"_calculated.d","putAggregationInto":"n"}]"#, "[0].field"),
        (#"[{"type":"MAX","field":"f","limit":3,"putAggregationInto":"n"}]"#, "[0].limit"),
        (#"[{"type":"GROUP","field":"f","putAggregationInto":"n","size":3}]"#, "[0].size"),
        (
            #"[{"type":"COUNT","putAggregationInto":"n"},{"type":"COUNT","putAggregationInto":"n"}]"#,
            "[1].putAggregationInto"
        ),
        (group("0"), "[0].limit"), (group("1001"), "[0].limit"), (group("-1"), "[0].limit"),
        (group("1.5"), "[0].limit"), (group("\"5\""), "[0].limit"), (group("null"), "[0].limit"),
        (list(17), ""),
    ])
    func `what is no aggregation is refused with its path`(_ list: String, _ path: String) throws {
        do {
            _ = try Self.parse(list)
            Issue.record("accepted: \(list)")
        } catch let failure as ServiceFailure {
            #expect(failure.reason == .invalidInputData)
            #expect(failure.path == "bucketQuery.aggregations\(path)", "\(failure.message)")
        }
    }
}
