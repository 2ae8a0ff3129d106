import JSONText
import Objects
import QueryLanguage

/// Parses the tokens of a filter into a clause, by recursive descent.
struct CQL2Parser {
    private let tokens: [CQL2Token]
    let limits: Limits
    private var at = 0
    private var nesting = 0
    private var nodes = 0
    /// How many more positions the polygons may have.
    var positionsLeft: Int

    /// - Parameter tokens: the last of them `end`.
    init(_ tokens: [CQL2Token], _ limits: Limits) {
        (self.tokens, self.limits) = (tokens, limits)
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
        case .literal, .time:
            guard case .comparison(let symbol) = token.kind else {
                throw expected("a comparison (= <> < <= > >=) after the value")
            }
            at += 1
            let right = token.position
            guard case .property(let field) = try operand() else {
                throw CQL2SyntaxError("expected a property on one side", at: right)
            }
            let after = at
            defer { at = after }
            at = start
            return try comparison(field, Self.mirrored[symbol] ?? symbol)
        }
    }

    /// The symbols that say the same with their sides exchanged.
    private static let mirrored = ["<": ">", "<=": ">=", ">": "<", ">=": "<="]

    private mutating func predicate(on field: FieldPath) throws(CQL2SyntaxError) -> Clause {
        if case .comparison(let symbol) = token.kind {
            at += 1
            return try comparison(field, symbol)
        }
        if take(keyword: "IS") { return try isNull(field) }
        let isNegated = take(keyword: "NOT")
        let clause: Clause
        if take(keyword: "LIKE") {
            clause = .prefix(field, Array(try prefix().utf8))
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
        let value = try value(beside: field)
        switch symbol {
        case "=": return value.equality(field)
        case "<>": return .not(value.equality(field))
        default:
            guard let range = value.range(symbol) else {
                throw CQL2SyntaxError(
                    "expected a number, a string or a time beside \"\(symbol)\"", at: position)
            }
            return .range(field, range)
        }
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
        guard let range = lower.range(to: upper) else {
            throw CQL2SyntaxError("expected two numbers, two strings or two times", at: position)
        }
        return .range(field, range)
    }

    private mutating func membership(_ field: FieldPath) throws(CQL2SyntaxError) -> Clause {
        guard take(mark: "(") else { throw expected("\"(\" and a list of values after \"IN\"") }
        var literals: [Literal] = []
        var clauses: [Clause] = []
        repeat {
            switch try value(beside: field) {
            case .literal(let literal): literals.append(literal)
            case .time(let time): clauses.append(ComparedValue.time(time).equality(field))
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

    /// The `x` of a pattern `x%`; a backslash takes the meaning of what follows it.
    private mutating func prefix() throws(CQL2SyntaxError) -> String {
        guard case .string(let pattern) = token.kind else { throw expected("a pattern in quotes") }
        var text = ""
        var rest = pattern.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\\":
                guard let next = rest.popFirst() else { throw onlyPrefixes }
                text.unicodeScalars.append(next)
            case "%":
                guard rest.isEmpty else { throw onlyPrefixes }
                at += 1
                return text
            case "_": throw onlyPrefixes
            default: text.unicodeScalars.append(scalar)
            }
        }
        throw onlyPrefixes
    }

    private var onlyPrefixes: CQL2SyntaxError {
        fault(
            "only patterns with one \"%\", at the end, are supported; \"\\_\" is a mere underscore")
    }

    // MARK: Operands

    private enum Operand {
        case property(FieldPath)
        case literal(Literal)
        case time(TimeSpan)
    }

    private mutating func operand() throws(CQL2SyntaxError) -> Operand {
        switch token.kind {
        case .name(let name): return .property(try property(name))
        case .string(let text):
            at += 1
            return .literal(.string(text))
        case .number(let number):
            at += 1
            return .literal(.number(number))
        case .word(let word):
            switch token.keyword {
            case "TRUE", "FALSE":
                at += 1
                return .literal(.bool(word.uppercased() == "TRUE"))
            case "DATE" where isCall: return .time(try time(TimeSpan.init(date:), "2026-01-31"))
            case "TIMESTAMP" where isCall:
                return .time(try time(TimeSpan.init(timestamp:), "2026-01-31T12:00:00Z"))
            case "NULL": throw fault("expected a value; \"IS NULL\" finds what is missing")
            case let keyword? where Self.keywords.contains(keyword):
                throw fault(
                    "\(quoted(word)) is a keyword; a property of that name stands in double quotes")
            case _ where isCall: throw fault("there is no function \(quoted(word)) here")
            default: return .property(try property(word))
            }
        default: throw expected("a property or a value")
        }
    }

    private static let keywords: Set = ["AND", "OR", "NOT", "LIKE", "BETWEEN", "IN", "IS"]

    private mutating func property(_ name: String) throws(CQL2SyntaxError) -> FieldPath {
        guard !name.isEmpty else { throw fault("expected the name of a property") }
        guard name != "_calculated", !name.hasPrefix("_calculated.") else {
            throw fault("\"_calculated\" cannot stand in a filter")
        }
        at += 1
        return FieldPath(name)
    }

    /// A property's name, where nothing else can stand.
    mutating func property() throws(CQL2SyntaxError) -> FieldPath? {
        switch token.kind {
        case .name(let name): return try property(name)
        case .word(let word) where !isCall && !Self.keywords.contains(word.uppercased()):
            return try property(word)
        default: return nil
        }
    }

    private mutating func value(
        beside field: FieldPath
    ) throws(CQL2SyntaxError) -> ComparedValue {
        let position = token.position
        let isOfTime = ["_created", "_modified", "_expiresAt"].contains(field.text)
        switch try operand() {
        case .property:
            throw CQL2SyntaxError(
                "expected a value; two properties cannot be compared", at: position)
        case .time(let time):
            guard isOfTime else {
                throw CQL2SyntaxError(
                    "times stand beside _created, _modified and _expiresAt; other fields may hold a "
                        + "number or a string",
                    at: position)
            }
            return .time(time)
        case .literal(.string(let utf8)) where isOfTime:
            let text = String(decoding: utf8, as: UTF8.self)
            return (TimeSpan(text)).map { .time($0) } ?? .literal(.string(utf8))
        case .literal(let literal): return .literal(literal)
        }
    }

    /// `DATE('…')` or `TIMESTAMP('…')`; the current token is the word.
    private mutating func time(
        _ read: (String) -> TimeSpan?, _ example: String
    ) throws(CQL2SyntaxError) -> TimeSpan {
        at += 2
        guard case .string(let text) = token.kind, let time = read(text) else {
            throw expected("a time such as '\(example)'")
        }
        at += 1
        guard take(mark: ")") else { throw expected("\")\"") }
        return time
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

/// What a property is compared with.
private enum ComparedValue {
    case literal(Literal)
    case time(TimeSpan)

    func equality(_ field: FieldPath) -> Clause {
        switch self {
        case .literal(let literal): .eq(field, literal)
        case .time(let time): .range(field, time.range)
        }
    }

    /// What lies on the side of the value that a symbol says; nil if the value has no sides.
    func range(_ symbol: String) -> LiteralRange? {
        let (isLower, included) = (symbol.first == ">", symbol.count == 2)
        switch self {
        case .literal(.number(let number)):
            let limit = LiteralRange.Limit(number, included: included)
            return .numbers(lower: isLower ? limit : nil, upper: isLower ? nil : limit)
        case .literal(.string(let utf8)):
            let limit = LiteralRange.Limit(utf8, included: included)
            return .strings(lower: isLower ? limit : nil, upper: isLower ? nil : limit)
        case .literal: return nil
        case .time(let time):
            // Behind a day is behind its last millisecond.
            let end = isLower == included ? time.first : time.last
            let limit = LiteralRange.Limit(JSONNumber.integer(end), included: included)
            return .numbers(lower: isLower ? limit : nil, upper: isLower ? nil : limit)
        }
    }

    func range(to upper: ComparedValue) -> LiteralRange? {
        switch (self, upper) {
        case (.literal(.number(let a)), .literal(.number(let b))):
            .numbers(lower: .init(a), upper: .init(b))
        case (.literal(.string(let a)), .literal(.string(let b))):
            .strings(lower: .init(a), upper: .init(b))
        case (.time(let a), .time(let b)):
            .numbers(lower: .init(.integer(a.first)), upper: .init(.integer(b.last)))
        default: nil
        }
    }
}
