import Geodesy
import JSONText
import Objects

/// Parses the tokens of a filter expression into a clause, by recursive descent.
struct FilterExpressionParser {
    private let tokens: [FilterExpressionToken]
    private let text: String
    private var at = 0
    private var nesting = 0
    private let numbers = JSONParser()

    /// - Parameter tokens: of `text`, the last of them `end`.
    init(tokens: [FilterExpressionToken], _ text: String) {
        self.tokens = tokens
        self.text = text
    }

    mutating func parse() throws(FilterSyntaxError) -> Clause {
        let clause = try disjunction()
        guard token.kind == .end else { throw expected("\"and\", \"or\" or the end") }
        return clause
    }

    // MARK: Logic

    private mutating func disjunction() throws(FilterSyntaxError) -> Clause {
        var clauses = [try conjunction()]
        while take(keyword: "or") { clauses.append(try conjunction()) }
        return clauses.count == 1 ? clauses[0] : .or(clauses)
    }

    private mutating func conjunction() throws(FilterSyntaxError) -> Clause {
        var clauses = [try negation()]
        while take(keyword: "and") { clauses.append(try negation()) }
        return clauses.count == 1 ? clauses[0] : .and(clauses)
    }

    private mutating func negation() throws(FilterSyntaxError) -> Clause {
        guard nesting < FilterExpression.maximumNesting else {
            throw fault("nested deeper than \(FilterExpression.maximumNesting) levels")
        }
        nesting += 1
        defer { nesting -= 1 }
        if take(keyword: "not") { return .not(try negation()) }
        guard take(mark: "(") else { return try condition() }
        let clause = try disjunction()
        guard take(mark: ")") else { throw expected("\"and\", \"or\" or \")\"") }
        return clause
    }

    // MARK: Conditions

    private mutating func condition() throws(FilterSyntaxError) -> Clause {
        let field = try field()
        if take(keyword: "exists") { return .hasField(field, nil) }
        if take(keyword: "in") { return .isIn(field, try list()) }
        if take(keyword: "not") {
            guard take(keyword: "in") else { throw expected("\"in\" after \"not\"") }
            return .not(.isIn(field, try list()))
        }
        guard case .comparison(let symbol) = token.kind else {
            throw expected("an operator (= != < <= > >= ^= ~ in exists) after the field")
        }
        at += 1
        return try comparison(field, symbol)
    }

    private mutating func comparison(
        _ field: FieldPath, _ symbol: String
    ) throws(FilterSyntaxError) -> Clause {
        switch symbol {
        case "=": return .eq(field, try value())
        case "!=": return .not(.eq(field, try value()))
        case "~": return .contains(field, try value())
        case "^=": return .prefix(field, try prefix())
        default: return try range(field, symbol)
        }
    }

    private mutating func range(
        _ field: FieldPath, _ symbol: String
    ) throws(FilterSyntaxError) -> Clause {
        let position = at
        let included = symbol.count == 2
        let isLower = symbol.first == ">"
        switch try value() {
        case .number(let number):
            let limit = LiteralRange.Limit(number, included: included)
            return .range(
                field,
                isLower ? .numbers(lower: limit, upper: nil) : .numbers(lower: nil, upper: limit))
        case .string(let utf8):
            let limit = LiteralRange.Limit(utf8, included: included)
            return .range(
                field,
                isLower ? .strings(lower: limit, upper: nil) : .strings(lower: nil, upper: limit))
        case .null, .bool, .point:
            at = position
            throw expected("a number or a string after \"\(symbol)\"")
        }
    }

    private mutating func field() throws(FilterSyntaxError) -> FieldPath {
        switch token.kind {
        case .word(let word):
            guard !isKeyword else {
                throw fault("\"\(word)\" is a keyword; a field of that name stands in backquotes")
            }
            return try field(named: word)
        case .name(let name): return try field(named: name)
        case .string: throw expected("a field (in backquotes, not in quotes, when it needs any)")
        default: throw expected("a field")
        }
    }

    private mutating func field(named name: String) throws(FilterSyntaxError) -> FieldPath {
        guard name != "_calculated", !name.hasPrefix("_calculated.") else {
            throw fault("_calculated can be ordered by, but not stand in a condition")
        }
        at += 1
        return FieldPath(name)
    }

    // MARK: Values

    private mutating func list() throws(FilterSyntaxError) -> [Literal] {
        let close: Character
        if take(mark: "(") {
            close = ")"
        } else if take(mark: "[") {
            close = "]"
        } else {
            throw expected("\"(\" and a list of values after \"in\"")
        }
        var values = [try value()]
        while take(mark: ",") { values.append(try value()) }
        guard take(mark: close) else { throw expected("\",\" or \"\(close)\"") }
        return values
    }

    private mutating func prefix() throws(FilterSyntaxError) -> [UInt8] {
        if case .word(let word) = token.kind, !isKeyword {
            at += 1
            return Array(word.utf8)
        }
        guard case .string(let utf8) = try value() else { throw expected("a string after \"^=\"") }
        return utf8
    }

    private mutating func value() throws(FilterSyntaxError) -> Literal {
        switch token.kind {
        case .string(let string):
            at += 1
            return .string(string)
        case .word(let word):
            guard !isKeyword else {
                throw fault("\"\(word)\" is a keyword; as a string it stands in quotes")
            }
            return try value(spelled: word)
        default: throw expected("a value")
        }
    }

    private mutating func value(spelled word: String) throws(FilterSyntaxError) -> Literal {
        let isPoint = token.keyword == "point" && tokens[at + 1].kind == .mark("(")
        if isPoint { return .point(try point()) }
        let literal = try literal(word)
        at += 1
        return literal
    }

    private func literal(_ word: String) throws(FilterSyntaxError) -> Literal {
        switch word.lowercased() {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default: break
        }
        // Only numbers can be JSON here, because words contain no quotes and brackets.
        guard let view = try? numbers.parse(Array(word.utf8)) else { return .string(word) }
        if view.kind == .huge { throw fault("\(word) is outside the range of numbers") }
        return view.number.map { .number($0) } ?? .string(word)
    }

    /// `point(LAT,LON)`; the current token is the word.
    private mutating func point() throws(FilterSyntaxError) -> Coordinate {
        at += 2
        let latitude = try degrees(90, "latitude")
        guard take(mark: ",") else { throw expected("\",\" between latitude and longitude") }
        let longitude = try degrees(180, "longitude")
        guard take(mark: ")") else { throw expected("\")\" after the longitude") }
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

    // MARK: Tokens

    /// The current token; after the last one it stays the last.
    private var token: FilterExpressionToken { tokens[min(at, tokens.count - 1)] }

    private var isKeyword: Bool { ["and", "or", "not", "in"].contains(token.keyword) }

    private mutating func take(keyword: String) -> Bool {
        guard token.keyword == keyword else { return false }
        at += 1
        return true
    }

    private mutating func take(mark: Character) -> Bool {
        guard token.kind == .mark(mark) else { return false }
        at += 1
        return true
    }

    private func expected(_ what: String) -> FilterSyntaxError {
        fault("expected \(what), found \(token.description)")
    }

    private func fault(_ message: String) -> FilterSyntaxError {
        FilterSyntaxError(message, at: token.position, of: text)
    }
}
