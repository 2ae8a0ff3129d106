import JSONText
import Objects
import Testing

@testable import QueryLanguage

/// What filters mean, and how they are refused.
@Suite struct CQL2FilterTests {
    private static func json(_ text: String) throws -> String {
        try CQL2Filter.clause(text, Limits()).json
    }

    private static func fault(_ text: String, _ limits: Limits = Limits()) -> String {
        do throws(FilterSyntaxError) {
            return try CQL2Filter.clause(text, limits).json
        } catch {
            return "\(error)"
        }
    }

    static let meanings: [(String, String)] = [
        ("kind = 'shop'", #"{"type":"eq","field":"kind","value":"shop"}"#),
        ("'shop' = kind", #"{"type":"eq","field":"kind","value":"shop"}"#),
        (
            "kind <> 'shop'",
            #"{"type":"not","clause":{"type":"eq","field":"kind","value":"shop"}}"#
        ),
        ("a < 5", #"{"type":"range","field":"a","upperLimit":5,"upperIncluded":false}"#),
        ("5 < a", #"{"type":"range","field":"a","lowerLimit":5,"lowerIncluded":false}"#),
        ("a<=5", #"{"type":"range","field":"a","upperLimit":5}"#),
        ("a >= 'x'", #"{"type":"range","field":"a","lowerLimit":"x"}"#),
        ("a=-.5", #"{"type":"eq","field":"a","value":-0.5}"#),
        ("a=+007.", #"{"type":"eq","field":"a","value":7}"#),
        ("a=1E3", #"{"type":"eq","field":"a","value":1000.0}"#),
        (
            "a = 18446744073709551615",
            #"{"type":"eq","field":"a","value":18446744073709551615}"#
        ),
        (#"a = 'x\ny\t\d'"#, #"{"type":"eq","field":"a","value":"x\ny\t\\d"}"#),
        ("open = TRUE", #"{"type":"eq","field":"open","value":true}"#),
        ("false = open", #"{"type":"eq","field":"open","value":false}"#),
        ("TRUE", #"{"type":"all"}"#),
        ("(FALSE)", #"{"type":"not","clause":{"type":"all"}}"#),
        ("a BETWEEN 1 AND 2", #"{"type":"range","field":"a","lowerLimit":1,"upperLimit":2}"#),
        (
            "a not between 'x' and 'y'",
            #"{"type":"not","clause":{"type":"range","field":"a","lowerLimit":"x","upperLimit":"y"}}"#
        ),
        ("a IN (1, 'x', TRUE)", #"{"type":"in","field":"a","values":[1,"x",true]}"#),
        ("a NOT IN (1)", #"{"type":"not","clause":{"type":"in","field":"a","values":[1]}}"#),
        ("a LIKE 'x%'", #"{"type":"prefix","field":"a","prefix":"x"}"#),
        (#"a LIKE '50\%\_\\%'"#, #"{"type":"prefix","field":"a","prefix":"50%_\\"}"#),
        ("a LIKE '%'", #"{"type":"prefix","field":"a","prefix":""}"#),
        ("a LIKE 'x'", #"{"type":"eq","field":"a","value":"x"}"#),
        ("a LIKE '%x'", #"{"type":"like","field":"a","pattern":"%x"}"#),
        ("a LIKE 'x_%'", #"{"type":"like","field":"a","pattern":"x_%"}"#),
        ("a LIKE '%it''s%'", #"{"type":"like","field":"a","pattern":"%it's%"}"#),
        (#"a LIKE '%\'\%\\%'"#, #"{"type":"like","field":"a","pattern":"%'\\%\\\\%"}"#),
        (
            "CASEI(a) LIKE casei('%Straße%')",
            #"{"type":"like","field":"a","pattern":"%strasse%","ignoreCase":true}"#
        ),
        (
            "CASEI(a) NOT LIKE '%x%'",
            #"{"type":"not","clause":{"type":"like","field":"a","pattern":"%x%","ignoreCase":true}}"#
        ),
        (
            "CASEI(a) LIKE 'X'",
            #"{"type":"and","clauses":[{"type":"prefix","field":"a","prefix":""},{"type":"not","clause":{"type":"prefix","field":"a","prefix":""}}]}"#
        ),
        (
            "CASEI(a) = CASEI('50% of_X')",
            #"{"type":"like","field":"a","pattern":"50\\% of\\_x","ignoreCase":true}"#
        ),
        (
            "CASEI('X') <> CASEI(\"a b\")",
            #"{"type":"not","clause":{"type":"like","field":"a b","pattern":"x","ignoreCase":true}}"#
        ),
        (
            "CASEI(a) IN (CASEI('X'), 'y')",
            #"{"type":"or","clauses":[{"type":"like","field":"a","pattern":"x","ignoreCase":true},{"type":"like","field":"a","pattern":"y","ignoreCase":true}]}"#
        ),
        ("a = CASEI('X')", #"{"type":"eq","field":"a","value":"x"}"#),
        (#"a = 'C:\data\\'"#, #"{"type":"eq","field":"a","value":"C:\\data\\"}"#),
        (#"a = '\'\\'''"#, #"{"type":"eq","field":"a","value":"'\\'"}"#),
        (#""a\\b\"" = 1"#, #"{"type":"eq","field":"a\\b\"","value":1}"#),
        (
            "a NOT LIKE 'x%'",
            #"{"type":"not","clause":{"type":"prefix","field":"a","prefix":"x"}}"#
        ),
        (
            "a IS NULL",
            #"{"type":"or","clauses":[{"type":"not","clause":{"type":"hasField","field":"a"}},{"type":"hasField","field":"a","fieldType":"NULL"}]}"#
        ),
        (
            "a IS NOT NULL",
            #"{"type":"and","clauses":[{"type":"hasField","field":"a"},{"type":"not","clause":{"type":"hasField","field":"a","fieldType":"NULL"}}]}"#
        ),
        (
            #""the ""name""" = 'it''s' or address.city = '\''"#,
            #"{"type":"or","clauses":[{"type":"eq","field":"the \"name\"","value":"it's"},{"type":"eq","field":"address.city","value":"'"}]}"#
        ),
        (
            "NOT a=1 AND b=2 AND c=3 OR d=4",
            #"{"type":"or","clauses":[{"type":"and","clauses":[{"type":"not","clause":{"type":"eq","field":"a","value":1}},{"type":"eq","field":"b","value":2},{"type":"eq","field":"c","value":3}]},{"type":"eq","field":"d","value":4}]}"#
        ),
        ("名前='東京'", #"{"type":"eq","field":"名前","value":"東京"}"#),
        (#"date = 1"#, #"{"type":"eq","field":"date","value":1}"#),
        (
            "_modified = TIMESTAMP('1970-01-01T00:00:01Z')",
            #"{"type":"range","field":"_modified","lowerLimit":1000,"upperLimit":1000}"#
        ),
        (
            "_modified > DATE('1970-01-02')",
            #"{"type":"range","field":"_modified","lowerLimit":172799999,"lowerIncluded":false}"#
        ),
        (
            "_modified >= DATE('1970-01-02')",
            #"{"type":"range","field":"_modified","lowerLimit":86400000}"#
        ),
        (
            "DATE('1970-01-02') > _modified",
            #"{"type":"range","field":"_modified","upperLimit":86400000,"upperIncluded":false}"#
        ),
        (
            "_created <= '1970-01-02'",
            #"{"type":"range","field":"_created","upperLimit":172799999}"#
        ),
        (
            "_created BETWEEN DATE('1970-01-01') AND DATE('1970-01-02')",
            #"{"type":"range","field":"_created","lowerLimit":0,"upperLimit":172799999}"#
        ),
        (
            "S_INTERSECTS(location, BBOX(170, -20, -170, 20))",
            #"{"type":"geobox","field":"location","box":{"ne":{"_type":"point","lat":20.0,"lon":-170.0},"sw":{"_type":"point","lat":-20.0,"lon":170.0}}}"#
        ),
        (
            "s_intersects(POINT(1.5 2), \"my place\")",
            #"{"type":"geobox","field":"my place","box":{"ne":{"_type":"point","lat":2.0,"lon":1.5},"sw":{"_type":"point","lat":2.0,"lon":1.5}}}"#
        ),
        (
            "S_WITHIN(p, POLYGON Z ((0 0 9, 4 0 9, 4 4 9, 0 0 9)))",
            #"{"type":"geopolygon","field":"p","polygon":{"type":"Polygon","coordinates":[[[0.0,0.0],[4.0,0.0],[4.0,4.0],[0.0,0.0]]]}}"#
        ),
        (
            "S_INTERSECTS(p,MULTIPOLYGON(((0 0,4 0,4 4,0 0)),((9 9,12 9,12 12,9 9))))",
            #"{"type":"geopolygon","field":"p","polygon":{"type":"MultiPolygon","coordinates":[[[[0.0,0.0],[4.0,0.0],[4.0,4.0],[0.0,0.0]]],[[[9.0,9.0],[12.0,9.0],[12.0,12.0],[9.0,9.0]]]]}}"#
        ),
    ]

    @Test(arguments: meanings)
    func `A filter is a clause`(_ text: String, _ clause: String) throws {
        #expect(try Self.json(text) == clause, "\(text)")
    }

    static let faults: [(String, String)] = [
        ("", "column 1: expected a property or a value, found the end"),
        ("a", "column 2: expected a comparison"),
        ("a = ", "column 5: expected a property or a value, found the end"),
        ("a = 'x", "column 5: the quote is not closed"),
        ("a == 1", "column 4: expected a property or a value"),
        ("a != 1", "column 3: CQL2 writes \"<>\""),
        ("a = b", "column 5: expected a value; two properties"),
        ("1 = 2", "column 5: expected a property on one side"),
        ("a = 1 b", "column 7: expected \"AND\", \"OR\" or the end, found \"b\""),
        ("(a = 1", "column 7: expected \"AND\", \"OR\" or \")\", found the end"),
        (#"a LIKE 'x\'"#, "column 8: the quote is not closed"),
        (
            "a LIKE '%\(String(repeating: "x_", count: 33))%'",
            "column 8: more than 64 characters with a \"_\""
        ),
        ("a LIKE 5", "column 8: expected a pattern in quotes"),
        ("a IN ()", "column 7: expected a property or a value"),
        ("a < TRUE", "column 5: expected a number, a string or a time"),
        ("a BETWEEN 1 AND 'x'", "column 17: expected two numbers, two strings or two times"),
        ("a = NULL", "column 5: expected a value; \"IS NULL\""),
        ("a = 1 + 2", "column 7: expected a number"),
        ("a * 2 = 4", "column 3: arithmetic is not supported"),
        ("a = 1e999", "column 5: the number is outside the range of numbers"),
        ("and = 1", "column 1: \"and\" is a keyword"),
        ("_calculated.d < 5", "column 1: \"_calculated\" cannot"),
        ("CASEI(a) < 'x'", "column 12: \"CASEI\" stands beside =, <>, LIKE and IN"),
        ("CASEI(a) = 5", "column 12: expected a string"),
        (
            "a = CASEI(CASEI('x'))",
            "column 11: expected a property or a string in \"CASEI(…)\""
        ),
        (
            "a LIKE " + String(repeating: "CASEI(", count: 10_000),
            "column 14: expected a pattern in quotes"
        ),
        (
            String(repeating: "CASEI(", count: 10_000),
            "column 7: expected a property or a string in \"CASEI(…)\""
        ),
        ("CASEI(a) BETWEEN 'x' AND 'y'", "column 10: expected =, <>, LIKE or IN"),
        ("CASEI(5) = 'x'", "column 7: expected a property or a string"),
        ("CASEI(a) IN ('x'", "column 17: expected \",\" or \")\""),
        ("CASEI(a = 'x'", "column 9: expected \")\""),
        ("a = CASEI(b)", "column 5: expected a value; two properties"),
        ("ACCENTI(a) = 'x'", "column 1: there is no function \"ACCENTI\" here"),
        ("_modified > DATE('2026-02-30')", "column 18: expected a time such as"),
        ("S_INTERSECTS(p POINT(5 5))", "column 16: expected \",\""),
        ("S_INTERSECTS(,POINT(5 5),p)", "column 14: expected a BBOX"),
        ("S_INTERSECTS(POINT(5 5),9)", "column 25: expected a property"),
        ("S_WITHIN(POINT(5 5),p)", "column 10: expected a property"),
        ("S_INTERSECTS(p, POINT(181 0))", "column 23: longitude 181.0"),
        ("S_INTERSECTS(p, LINESTRING(0 0, 1 1))", "column 17: expected a BBOX, POINT"),
        ("S_INTERSECTS(p, POLYGON((0 0, 1 1, 1 0)))", "column 17: the polygon is not valid"),
        ("S_INTERSECTS(p, BBOX(1,2,3))", "column 21: expected 4 or 6 numbers, found 3"),
        ("S_INTERSECTS(p, BBOX(0,5,1,4))", "column 21: the corners are swapped"),
        ("S_INTERSECTS(p, q)", "column 17: expected a BBOX"),
        ("S_TOUCHES(p, POINT(0 0))", "column 1: there is no function"),
        ("5a = 1", "column 2: a name cannot begin with a digit"),
    ]

    @Test(arguments: faults)
    func `A text that is no filter is refused with the place`(_ text: String, _ fault: String) {
        #expect(Self.fault(text).hasPrefix(fault), "\(text): \(Self.fault(text))")
    }

    @Test func `Nesting, conditions and positions are bounded`() {
        var limits = Limits()
        let depth = TextParser.maximumNesting
        func nested(_ levels: Int) -> String {
            String(repeating: "(", count: levels) + "a = 1" + String(repeating: ")", count: levels)
        }
        #expect(!Self.fault(nested(depth - 1)).hasPrefix("column"))
        #expect(Self.fault(nested(depth)).hasPrefix("column \(depth + 1): nested deeper"))
        limits.clauses = 3
        #expect(!Self.fault("a=1 OR a=2 OR a=3", limits).hasPrefix("column"))
        #expect(Self.fault("a=1 OR a=2 OR a=3 OR a=4", limits).hasPrefix("column 22: more than 3"))
        limits.polygonPositions = 4
        let triangle = "S_INTERSECTS(p, POLYGON((0 0, 1 0, 1 1, 0 0)))"
        #expect(!Self.fault(triangle, limits).hasPrefix("column"))
        limits.polygonPositions = 3
        #expect(Self.fault(triangle, limits).hasPrefix("column 41: more than 3 positions"))
    }

    @Test func `A long list becomes several clauses that a query may have`() throws {
        var limits = Limits()
        limits.inValues = 2
        let clause = try CQL2Filter.clause("a IN (1,2,3,4,5)", limits)
        guard case .or(let parts) = clause else {
            Issue.record("\(clause.json)")
            return
        }
        #expect(parts.count == 3)
    }
}
