import JSONText
import Objects
import QueryLanguage

/// Parses the tokens of a filter into a clause, by recursive descent.
struct CQL2Parser {
    private let tokens: [CQL2Token]
    let limits: Limits
    /// The number of the current token.
    var at = 0
    private var nesting = 0
    /// How many conditions were read.
    var nodes = 0
    /// What spatial functions may name; nil: anything.
    let places: SpatialFields?
    /// How many more positions the polygons may have.
    var positionsLeft: Int

    /// - Parameter tokens: the last of them `end`.
    init(_ tokens: [CQL2Token], _ limits: Limits, _ places: SpatialFields?) {
        (self.tokens, self.limits, self.places) = (tokens, limits, places)
        positionsLeft = limits.polygonPositions
    }

    mutating func parse() throws(CQL2SyntaxError) -> Clause {
        let clause = try disjunction()
        guard token.kind == .end else { throw expected("\"AND\", \"OR\" or the end") }
        return clause
    }

    // MARK: Logic

    private mutating func disjunction() throws(CQL2SyntaxError) -> Clause {
        var clauses = [try conjunction()]
        while take(keyword: "OR") { clauses.append(try conjunction()) }
        return clauses.count == 1 ? clauses[0] : .or(clauses)
    }

    private mutating func conjunction() throws(CQL2SyntaxError) -> Clause {
        var clauses = [try negation()]
        while take(keyword: "AND") { clauses.append(try negation()) }
        return clauses.count == 1 ? clauses[0] : .and(clauses)
    }

    private mutating func negation() throws(CQL2SyntaxError) -> Clause {
        guard nesting < CQL2Filter.maximumNesting else {
            throw fault("nested deeper than \(CQL2Filter.maximumNesting) levels")
        }
        nesting += 1
        defer { nesting -= 1 }
        nodes += 1
        guard nodes <= limits.clauses else {
            throw fault("more than \(limits.clauses) conditions in one filter")
        }
        if take(keyword: "NOT") { return .not(try negation()) }
        guard take(mark: "(") else { return try predicate() }
        let clause = try disjunction()
        guard take(mark: ")") else { throw expected("\"AND\", \"OR\" or \")\"") }
        return clause
    }

    // MARK: Predicates

    private mutating func predicate() throws(CQL2SyntaxError) -> Clause {
        if let function = SpatialFunction(rawValue: token.keyword ?? ""), isCall {
            at += 1
            return try spatial(function)
        }
        if let constant = ["TRUE": true, "FALSE": false][token.keyword ?? ""],
            !tokens[at + 1].isComparison
        {
            at += 1
            return constant ? .all : .not(.all)
        }
        let start = at
        switch try operand() {
        case .property(let field): return try predicate(on: field)
        case .foldedProperty(let field): return try predicate(onFolded: field)
        case .literal, .time:
            guard case .comparison(let symbol) = token.kind else {
                throw expected("a comparison (= <> < <= > >=) after the value")
            }
            at += 1
            let right = token.position
            let property = try operand()
            let after = at
            defer { at = after }
            at = start
            let mirrored = Self.mirrored[symbol] ?? symbol
            switch property {
            case .property(let field): return try comparison(field, mirrored)
            case .foldedProperty(let field): return try foldedComparison(field, mirrored)
            case .literal, .time:
                throw CQL2SyntaxError("expected a property on one side", at: right)
            }
        }
    }

    /// The symbols that say the same with their sides exchanged.
    private static let mirrored = ["<": ">", "<=": ">=", ">": "<", ">=": "<="]

    private mutating func predicate(on field: FieldPath) throws(CQL2SyntaxError) -> Clause {
        if let symbol = takeComparison() { return try comparison(field, symbol) }
        if take(keyword: "IS") { return try isNull(field) }
        let isNegated = take(keyword: "NOT")
        let clause: Clause
        if take(keyword: "LIKE") {
            clause = try like(field)
        } else if take(keyword: "BETWEEN") {
            clause = try between(field)
        } else if take(keyword: "IN") {
            clause = try membership(field)
        } else {
            throw expected(
                isNegated
                    ? "\"LIKE\", \"BETWEEN\" or \"IN\" after \"NOT\""
                    : "a comparison (= <> < <= > >=), LIKE, BETWEEN, IN or IS after the property")
        }
        return isNegated ? .not(clause) : clause
    }

    /// A property beside a value, which follows.
    private mutating func comparison(
        _ field: FieldPath, _ symbol: String
    ) throws(CQL2SyntaxError) -> Clause {
        let position = token.position
        guard let clause = try value(beside: field).clause(field, symbol) else {
            throw CQL2SyntaxError(
                "expected a number, a string or a time beside \"\(symbol)\"", at: position)
        }
        return clause
    }

    private mutating func isNull(_ field: FieldPath) throws(CQL2SyntaxError) -> Clause {
        let isNegated = take(keyword: "NOT")
        guard take(keyword: "NULL") else { throw expected("\"NULL\"") }
        return isNegated
            ? .and([.hasField(field, nil), .not(.hasField(field, .null))])
            : .or([.not(.hasField(field, nil)), .hasField(field, .null)])
    }

    private mutating func between(_ field: FieldPath) throws(CQL2SyntaxError) -> Clause {
        let lower = try value(beside: field)
        guard take(keyword: "AND") else { throw expected("\"AND\" between the two limits") }
        let position = token.position
        let upper = try value(beside: field)
        guard let clause = lower.clause(field, to: upper) else {
            throw CQL2SyntaxError("expected two numbers, two strings or two times", at: position)
        }
        return clause
    }

    private mutating func membership(_ field: FieldPath) throws(CQL2SyntaxError) -> Clause {
        guard take(mark: "(") else { throw expected("\"(\" and a list of values after \"IN\"") }
        var literals: [Literal] = []
        var clauses: [Clause] = []
        repeat {
            let value = try value(beside: field)
            if case .literal(let literal) = value {
                literals.append(literal)
            } else {
                clauses.append(value.equality(field))
            }
        } while take(mark: ",")
        guard take(mark: ")") else { throw expected("\",\" or \")\"") }
        var rest = literals[...]
        while !rest.isEmpty {
            clauses.append(.isIn(field, Array(rest.prefix(limits.inValues))))
            rest = rest.dropFirst(limits.inValues)
        }
        nodes += clauses.count
        return clauses.count == 1 ? clauses[0] : .or(clauses)
    }

    // MARK: Tokens

    /// The current token; after the last one it stays the last.
    var token: CQL2Token { tokens[min(at, tokens.count - 1)] }

    /// Whether the current token is followed by a parenthesis.
    var isCall: Bool { at + 1 < tokens.count && tokens[at + 1].kind == .mark("(") }

    mutating func take(keyword: String) -> Bool {
        guard token.keyword == keyword else { return false }
        at += 1
        return true
    }

    mutating func take(mark: Character) -> Bool {
        guard token.kind == .mark(mark) else { return false }
        at += 1
        return true
    }

    mutating func takeComparison() -> String? {
        guard case .comparison(let symbol) = token.kind else { return nil }
        at += 1
        return symbol
    }

    mutating func takeNumber() -> Double? {
        guard case .number(let number) = token.kind else { return nil }
        at += 1
        return number.double
    }

    func expected(_ what: String) -> CQL2SyntaxError {
        fault("expected \(what), found \(token.description)")
    }

    func fault(_ message: String) -> CQL2SyntaxError {
        CQL2SyntaxError(message, at: token.position)
    }
}

extension CQL2Token {
    fileprivate var isComparison: Bool {
        if case .comparison = kind { true } else { false }
    }
}
