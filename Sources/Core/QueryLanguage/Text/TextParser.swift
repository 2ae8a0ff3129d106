import Objects

/// Parses the tokens of a text into a clause, by recursive descent: conditions, `not`, `and`, `or`.
struct TextParser {
    private let tokens: [TextToken]
    private let text: String
    let dialect: TextDialect
    let limits: Limits
    /// What spatial functions may name; nil: anything.
    let places: SpatialFields?
    /// The number of the current token.
    var at = 0
    private var nesting = 0
    /// How many conditions were read.
    var nodes = 0
    /// How many more positions the polygons may have.
    var positionsLeft: Int

    /// The most levels of nested parentheses and `not`s. The service's own limit is lower.
    static let maximumNesting = 200

    init(
        _ text: String, _ dialect: TextDialect, _ limits: Limits, places: SpatialFields? = nil
    ) throws(FilterSyntaxError) {
        var lexer = TextLexer(text, dialect)
        tokens = try lexer.tokens()
        (self.text, self.dialect, self.limits, self.places) = (text, dialect, limits, places)
        positionsLeft = limits.polygonPositions
    }

    /// The clause that the whole text describes; a chain of `and`s or of `or`s is one clause.
    mutating func parse() throws(FilterSyntaxError) -> Clause {
        let clause = try disjunction()
        guard token.kind == .end else { throw expected("\(joints) or the end") }
        return clause
    }

    // MARK: Logic

    private mutating func disjunction() throws(FilterSyntaxError) -> Clause {
        var clauses = [try conjunction()]
        while take(dialect.or) { clauses.append(try conjunction()) }
        return clauses.count == 1 ? clauses[0] : .or(clauses)
    }

    private mutating func conjunction() throws(FilterSyntaxError) -> Clause {
        var clauses = [try negation()]
        while take(dialect.and) { clauses.append(try negation()) }
        return clauses.count == 1 ? clauses[0] : .and(clauses)
    }

    private mutating func negation() throws(FilterSyntaxError) -> Clause {
        guard nesting < Self.maximumNesting else {
            throw fault("nested deeper than \(Self.maximumNesting) levels")
        }
        nesting += 1
        defer { nesting -= 1 }
        nodes += 1
        guard nodes <= limits.clauses else {
            throw fault("more than \(limits.clauses) conditions in one filter")
        }
        if take(dialect.not) { return .not(try negation()) }
        guard take("(") else { return try condition() }
        let clause = try disjunction()
        try pass(")", "\(joints) or \")\"")
        return clause
    }

    private var joints: String { "\"\(dialect.and)\", \"\(dialect.or)\"" }

    // MARK: Tokens

    /// The current token; after the last one it stays the last.
    var token: TextToken { tokens[min(at, tokens.count - 1)] }

    /// The token behind the current one.
    var next: TextToken { tokens[min(at + 1, tokens.count - 1)] }

    /// Whether the current token is followed by a parenthesis.
    var isCall: Bool { next.kind == .sign("(") }

    /// Passes over a word or a sign by its name, if it is the current token.
    mutating func take(_ name: String) -> Bool {
        guard token.name == name else { return false }
        at += 1
        return true
    }

    /// Passes over a word or a sign.
    ///
    /// - Parameter expectation: what is expected there, if that is not the sign alone.
    mutating func pass(
        _ name: String, _ expectation: String? = nil
    ) throws(FilterSyntaxError) {
        guard take(name) else { throw expected(expectation ?? "\"\(name)\"") }
    }

    /// Elements with commas between them, between parentheses or what else begins and ends a list.
    mutating func list<Element>(
        _ expectation: String = "\"(\"",
        of element: (inout TextParser) throws(FilterSyntaxError) -> Element
    ) throws(FilterSyntaxError) -> [Element] {
        guard let close = dialect.lists[token.name ?? ""] else { throw expected(expectation) }
        at += 1
        var elements = [try element(&self)]
        while take(",") { elements.append(try element(&self)) }
        try pass(close, "\",\" or \"\(close)\"")
        return elements
    }

    /// A field by its name, which is the current token.
    mutating func field(named name: String) throws(FilterSyntaxError) -> FieldPath {
        guard name != "_calculated", !name.hasPrefix("_calculated.") else {
            throw fault(dialect.refusesDistances)
        }
        at += 1
        return FieldPath(name)
    }

    /// Refuses a keyword where a field stands.
    func refuseReserved(_ word: String) throws(FilterSyntaxError) {
        guard dialect.isReserved(token.name) else { return }
        throw fault(
            "\(quoted(word)) is a keyword; a \(dialect.field) of that name stands in "
                + dialect.fieldQuotes)
    }

    /// What a function of the dialect returns, if the current token calls one.
    mutating func call() throws(FilterSyntaxError) -> TextOperand? {
        guard isCall, let function = dialect.functions[token.name ?? ""] else { return nil }
        at += 2
        return try function(&self)
    }

    // MARK: Faults

    /// A fault at the current token, which is something else than what was expected.
    func expected(_ what: String) -> FilterSyntaxError {
        fault("expected \(what), found \(token.description(dialect.field))")
    }

    /// A fault at a place, the current token's unless stated otherwise.
    func fault(_ message: String, at position: Int? = nil) -> FilterSyntaxError {
        FilterSyntaxError(message, at: position ?? token.position, of: text)
    }
}
