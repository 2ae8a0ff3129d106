import Geodesy
import JSONText
import Objects
import QueryLanguage
import Testing

/// The language of `--where`, rule by rule.
@Suite struct FilterExpressionTests {
    private func parse(_ text: String) throws -> Clause { try FilterExpression.parse(text) }

    private func failure(_ text: String) -> FilterSyntaxError? {
        do throws(FilterSyntaxError) {
            _ = try FilterExpression.parse(text)
            return nil
        } catch {
            return error
        }
    }

    private let f = FieldPath("f")

    @Test("Each operator makes its clause")
    func operators() throws {
        let five = LiteralRange.Limit(JSONNumber.integer(5))
        let openFive = LiteralRange.Limit(JSONNumber.integer(5), included: false)
        #expect(try parse("f = 5") == .eq(f, .number(.integer(5))))
        #expect(try parse("f != 5") == .not(.eq(f, .number(.integer(5)))))
        #expect(try parse("f < 5") == .range(f, .numbers(lower: nil, upper: openFive)))
        #expect(try parse("f <= 5") == .range(f, .numbers(lower: nil, upper: five)))
        #expect(try parse("f > 5") == .range(f, .numbers(lower: openFive, upper: nil)))
        #expect(try parse("f >= 5") == .range(f, .numbers(lower: five, upper: nil)))
        #expect(try parse("f ^= ab") == .prefix(f, Array("ab".utf8)))
        #expect(try parse("f ~ ab") == .contains(f, .string("ab")))
        #expect(try parse("f exists") == .hasField(f, nil))
    }

    @Test("Limits may be strings, with the same inclusion as numbers")
    func stringLimits() throws {
        let limit = LiteralRange.Limit(Array("b".utf8), included: false)
        #expect(try parse("f > b") == .range(f, .strings(lower: limit, upper: nil)))
        #expect(try parse("f < 'b'") == .range(f, .strings(lower: nil, upper: limit)))
    }

    @Test("A list stands in parentheses or brackets and mixes types; not in negates it")
    func membership() throws {
        let expected = Clause.isIn(
            f, [.number(.integer(1)), .string("a b"), .null, .bool(true), .string("c")])
        #expect(try parse("f in (1, 'a b', null, true, c)") == expected)
        #expect(try parse("f IN [1,\"a b\",null,true,c]") == expected)
        #expect(try parse("f not in (1)") == .not(.isIn(f, [.number(.integer(1))])))
    }

    @Test("not binds closer than and, and closer than or; parentheses overrule")
    func precedence() throws {
        let (a, b, c) = (exists("a"), exists("b"), exists("c"))
        #expect(try parse("a exists or b exists and c exists") == .or([a, .and([b, c])]))
        #expect(try parse("(a exists or b exists) and c exists") == .and([.or([a, b]), c]))
        #expect(try parse("not a exists and b exists") == .and([.not(a), b]))
        #expect(try parse("not (a exists and b exists)") == .not(.and([a, b])))
        #expect(try parse("not not a exists") == .not(.not(a)))
        #expect(try parse("a exists AND b exists And c exists") == .and([a, b, c]))
        #expect(try parse("((a exists))") == a)
    }

    private func exists(_ name: String) -> Clause { .hasField(FieldPath(name), nil) }

    @Test(
        "What is exactly a JSON number is one, with all digits of 64 bits; the rest is a string",
        arguments: [
            ("18446744073709551615", Literal.number(.unsigned(.max))),
            ("9223372036854775807", .number(.integer(.max))),
            ("-9223372036854775808", .number(.integer(.min))),
            ("18446744073709551616", .number(.decimal(0x1p64))),
            ("1.5e3", .number(.decimal(1500))), ("1E+2", .number(.decimal(100))),
            ("-0.5", .number(.decimal(-0.5))), ("007", .string("007")), (".5", .string(".5")),
            ("5.", .string("5.")), ("1.2.3", .string("1.2.3")), ("-", .string("-")),
            ("2026-11-20", .string("2026-11-20")), ("Asia/Tokyo", .string("Asia/Tokyo")),
            ("a:b", .string("a:b")), ("東京", .string("東京")), ("NaN", .string("NaN")),
            ("TRUE", .bool(true)), ("False", .bool(false)), ("Null", .null),
            ("'true'", .string("true")), ("\"5\"", .string("5")), ("''", .string("")),
        ])
    func values(_ text: String, _ literal: Literal) throws {
        #expect(try parse("f=\(text)") == .eq(f, literal))
    }

    @Test(
        "Escapes are JSON's, and those of all three quotes",
        arguments: [
            (#"'it\'s'"#, "it's"), (#""it's""#, "it's"), (#""a\"b""#, "a\"b"), (#"'a\\b'"#, "a\\b"),
            (#"'\n\t'"#, "\n\t"), (#"'\u6771\u4EAC'"#, "東京"), (#"'\ud83d\uDE00'"#, "😀"),
            (#"'`and` (or)'"#, "`and` (or)"), (#"'\u0000'"#, "\0"),
        ])
    func escapes(_ text: String, _ value: String) throws {
        #expect(try parse("f = \(text)") == .eq(f, .string(value)))
    }

    @Test("A bare word behind ^= is a string whatever it looks like")
    func barePrefix() throws {
        #expect(try parse("zip ^= 10") == .prefix(FieldPath("zip"), Array("10".utf8)))
        #expect(try parse("f ^= true") == .prefix(f, Array("true".utf8)))
    }

    @Test("Fields are bare words with dots, or anything in backquotes, keywords included")
    func fields() throws {
        #expect(try parse("address.city = x") == .eq(FieldPath("address.city"), .string("x")))
        #expect(try parse("`and` = x") == .eq(FieldPath("and"), .string("x")))
        #expect(try parse(#"`a \` b` = x"#) == .eq(FieldPath("a ` b"), .string("x")))
        #expect(try parse("`` = x") == .eq(FieldPath(""), .string("x")))
        #expect(try parse("exists exists") == exists("exists"))
        #expect(try parse("point = point") == .eq(FieldPath("point"), .string("point")))
        #expect(try parse("人口>1") != .all)
    }

    @Test("A point is written point(LAT,LON)")
    func points() throws {
        let position = Coordinate(latitude: 35.6, longitude: 139.7)
        #expect(try parse("f = point(35.6,139.7)") == .eq(f, .point(position)))
        #expect(try parse("f in (Point( 35.6 , 139.7 ))") == .isIn(f, [.point(position)]))
    }

    @Test(
        "A fault is told with the column it stands at",
        arguments: [
            ("", 1, "expected a field"), ("f", 2, "operator"), ("f = ", 5, "expected a value"),
            ("f == 5", 3, "equality is"), ("f <> 5", 3, "inequality is"),
            ("f = 5 g = 6", 7, "\"and\", \"or\" or the end"), ("(f = 5", 7, "\")\""),
            ("f = 'abc", 5, "not closed"), ("and = 5", 1, "backquotes"), ("f = or", 5, "quotes"),
            ("f in ()", 7, "a value"), ("f in (1,)", 9, "a value"), ("f in 5", 6, "list"),
            ("f > true", 5, "a number or a string"), ("f < null", 5, "a number or a string"),
            ("f = 1e400", 5, "outside the range"), ("f = point(91,0)", 11, "latitude"),
            ("f = point(1,181)", 13, "longitude"), ("f = point(1)", 12, "\",\""),
            ("'f' = 5", 1, "backquotes"), ("f = “x”", 5, "typographic"),
            ("f = +5", 5, "unexpected"),
            ("f = 5 && g = 6", 7, "\"and\""), (#"f = '\x'"#, 6, "escape"),
            (#"f = '\ud800'"#, 6, "surrogate"), (#"f = '\u12g4'"#, 6, "hex"),
            ("_calculated.d < 5", 1, "_calculated"), ("f = 'é' )", 9, "\"and\""),
            ("f not = 5", 7, "\"in\""), ("f = 5 and", 10, "a field"),
        ])
    func faults(_ text: String, _ column: Int, _ part: String) {
        let error = failure(text)
        #expect(error?.offset == column, "\(text)")
        #expect(error?.message.contains(part) == true, "\(text): \(error?.message ?? "no error")")
        #expect(error?.text == text)
    }

    @Test("The description shows the text with a caret under the place")
    func description() {
        #expect(failure("f == 5")?.description.hasSuffix("\n  f == 5\n    ^") == true)
        // Two ideographs and a blank take five columns.
        #expect(failure("人口 == 5")?.description.hasSuffix("\n       ^") == true)
    }

    @Test("200 levels are parsed, 201 are refused and not overflowed")
    func nesting() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "(", count: levels - 1) + "f exists"
                + String(repeating: ")", count: levels - 1)
        }
        #expect(try parse(nested(200)) == exists("f"))
        #expect(failure(nested(201))?.message.contains("200") == true)
        #expect(failure(String(repeating: "not ", count: 100_000) + "f exists") != nil)
    }
}
