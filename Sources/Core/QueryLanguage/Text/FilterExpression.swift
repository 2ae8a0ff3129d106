import Geodesy
import Objects
import PlainJSON

/// Conditions as people type them: `field OP value`, joined by `and`, `or`, `not`, parentheses.
///
///     try FilterExpression.parse("kind = shop and not (price >= 100 or closed exists)")
///
/// | written | means |
/// | --- | --- |
/// | `f = v`, `f != v` | `eq`, and `not` of it: unknown where `f` is missing |
/// | `f < v`, `<=`, `>`, `>=` | `range`; v is a number or a string |
/// | `f ^= v` | `prefix`; a bare v is a string whatever it looks like |
/// | `f ~ v` | `contains`, in a string or an array |
/// | `f in (v, v)`, `f in [v, v]`, `f not in (v)` | `in`, and `not` of it |
/// | `f exists` | `hasField` of any type |
///
/// `not` binds closest, then `and`, then `or`; keywords in any case. A value is a JSON number,
/// `true`, `false`, `null` (in any case), `point(LAT,LON)`, a string in single or double quotes,
/// or a bare word of letters, digits, `-_.:/` and anything outside ASCII. A field is a bare word,
/// or any name in backquotes. In quotes and backquotes the backslash escapes as in JSON.
///
/// - Note: `and`, `or`, `not` and `in` are keywords wherever they are not quoted.
public enum FilterExpression {
    /// The clause that the text describes; a chain of `and`s or of `or`s is one clause.
    ///
    /// - Complexity: O(n) of the text's length.
    public static func parse(_ text: String) throws(FilterSyntaxError) -> Clause {
        var parser = try TextParser(text, .filterExpression, unlimited)
        return try parser.parse()
    }

    /// The service limits the clause.
    private static let unlimited: Limits = {
        var limits = Limits()
        (limits.clauses, limits.inValues) = (.max, .max)
        return limits
    }()
}

extension TextDialect {
    static let filterExpression = TextDialect(
        spelled: { $0.lowercased() }, and: "and", or: "or", not: "not", null: "null",
        operators: [
            ("=", .equal), ("!=", .unequal), ("<", .limit(isLower: false, isIncluded: false)),
            ("<=", .limit(isLower: false, isIncluded: true)),
            (">", .limit(isLower: true, isIncluded: false)),
            (">=", .limit(isLower: true, isIncluded: true)), ("^=", .prefix), ("~", .contains),
            ("in", .membership), ("exists", .presence),
        ],
        functions: [
            "point": { parser throws(FilterSyntaxError) in .literal(.point(try parser.point())) }
        ],
        conditions: [:], constants: [:], lists: ["(": ")", "[": "]"],
        quotes: ["\"": false, "'": false, "`": true],
        doublesQuotes: false, wordMarks: ["-", ".", "/"], hasNumbers: false,
        hints: [
            "==": "there is no \"==\"; equality is \"=\"",
            "<>": "there is no \"<>\"; inequality is \"!=\"",
            "!": "unexpected \"!\"; inequality is \"!=\", negation \"not\"",
            "^": "unexpected \"^\"; \"begins with\" is \"^=\"",
            "&": "unexpected \"&\"; conditions are joined by \"and\"",
            "|": "unexpected \"|\"; conditions are joined by \"or\"",
        ].merging(
            ["\u{201C}", "\u{201D}", "\u{2018}", "\u{2019}"].map {
                ($0, "typographic quotes do not quote here; use \" or '")
            }, uniquingKeysWith: { $1 }),
        left: { parser throws(FilterSyntaxError) in try parser.field() },
        right: { parser, _ throws(FilterSyntaxError) in .literal(try parser.value()) },
        field: "field", fieldQuotes: "backquotes",
        expectedOperator: { dialect in
            let names = dialect.operators.map(\.name).joined(separator: " ")
            return "an operator (\(names)) after the field"
        },
        expectedLimit: "a number or a string after",
        refusesDistances: "_calculated can be ordered by, but not stand in a condition")
}

extension TextParser {
    fileprivate mutating func field() throws(FilterSyntaxError) -> TextOperand {
        switch token.kind {
        case .word(let word):
            try refuseReserved(word)
            return .field(TextField(path: try field(named: word)))
        case .name(let name): return .field(TextField(path: try field(named: name)))
        case .string: throw expected("a field (in backquotes, not in quotes, when it needs any)")
        default: throw expected("a field")
        }
    }

    fileprivate mutating func value() throws(FilterSyntaxError) -> Literal {
        switch token.kind {
        case .string(let string):
            at += 1
            return .string(string)
        case .word(let word):
            guard !dialect.isReserved(token.name) else {
                throw fault("\(quoted(word)) is a keyword; as a string it stands in quotes")
            }
            if case .literal(let literal) = try call() { return literal }
            let literal = try literal(word)
            at += 1
            return literal
        default: throw expected("a value")
        }
    }

    private func literal(_ word: String) throws(FilterSyntaxError) -> Literal {
        switch token.name {
        case dialect.null: return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default: break
        }
        // Only numbers can be JSON here, because words contain no quotes and brackets.
        let number = try? PlainJSONParser.reading(Array(word.utf8)) { ($0.kind, $0.number) }
        if number?.0 == .huge { throw fault("\(word) is outside the range of numbers") }
        return number?.1.map { .number($0) } ?? .string(word)
    }

    /// `LAT,LON)`, what is behind `point(`.
    fileprivate mutating func point() throws(FilterSyntaxError) -> Coordinate {
        let latitude = try degrees(90, "latitude")
        try pass(",", "\",\" between latitude and longitude")
        let longitude = try degrees(180, "longitude")
        try pass(")", "\")\" after the longitude")
        return Coordinate(latitude: latitude, longitude: longitude)
    }

    private mutating func degrees(
        _ bound: Double, _ name: String
    ) throws(FilterSyntaxError) -> Double {
        guard case .word(let word) = token.kind, case .number(let number) = try literal(word) else {
            throw expected("the \(name) in degrees")
        }
        guard abs(number.double) <= bound else {
            throw fault("\(name) \(word) is outside -\(Int(bound))...\(Int(bound))")
        }
        at += 1
        return number.double
    }
}
