import Geodesy
import Objects
import PlainJSON

// Conditions: a field, an operator and what is behind it.

extension TextParser {
    mutating func condition() throws(FilterSyntaxError) -> Clause {
        if isCall, let condition = dialect.conditions[token.name ?? ""] {
            at += 1
            return try condition(&self)
        }
        if let constant = dialect.constants[token.name ?? ""], comparison(next) == nil {
            at += 1
            return constant ? .all : .not(.all)
        }
        let start = at
        if case .field(let field) = try dialect.left(&self) { return try condition(on: field) }
        // A value, whose field is behind the operator.
        guard let comparison = comparison(token) else {
            throw expected("a comparison \(dialect.comparisons) after the value")
        }
        at += 1
        let right = token.position
        guard case .field(let field) = try dialect.left(&self) else {
            throw fault("expected a \(dialect.field) on one side", at: right)
        }
        let end = at
        defer { at = end }
        at = start
        return try clause(comparison.mirrored, field)
    }

    private func comparison(_ token: TextToken) -> TextOperator? {
        dialect.meaning(of: token.name).flatMap { $0.isComparison ? $0 : nil }
    }

    /// What stands behind a field.
    private mutating func condition(on field: TextField) throws(FilterSyntaxError) -> Clause {
        let isNegated = take(dialect.not)
        guard let meaning = dialect.meaning(of: token.name), !isNegated || meaning.isNegatable,
            !field.isFolded || meaning.ignoresCase || meaning.isComparison
        else { throw expected(dialect.expectation(behind: field, isNegated: isNegated)) }
        at += 1
        let clause = try clause(meaning, field)
        return isNegated ? .not(clause) : clause
    }

    /// The clause of an operator, whose value comes next.
    private mutating func clause(
        _ meaning: TextOperator, _ field: TextField
    ) throws(FilterSyntaxError) -> Clause {
        switch meaning {
        case .unequal: return .not(try clause(.equal, field))
        case .like: return try like(field)
        case .membership: return try membership(field)
        case _ where field.isFolded:
            guard meaning == .equal else { throw fault(dialect.refusesFolding) }
            return try foldedEquality(field.path)
        case .equal: return try dialect.right(&self, field.path).equality(field.path)
        case .limit(let isLower, let isIncluded):
            let start = at
            let value = try dialect.right(&self, field.path)
            if let clause = value.limit(field.path, isLower, isIncluded) { return clause }
            at = start
            throw expected("\(dialect.expectedLimit) \"\(dialect.name(of: meaning))\"")
        case .prefix: return .prefix(field.path, try prefix(field.path))
        case .contains:
            guard case .literal(let literal) = try dialect.right(&self, field.path) else {
                throw expected("a value")
            }
            return .contains(field.path, literal)
        case .between: return try between(field.path)
        case .null: return try null(field.path)
        case .presence: return .hasField(field.path, nil)
        }
    }

    /// A string, for which a bare word stands whatever it looks like.
    private mutating func prefix(_ field: FieldPath) throws(FilterSyntaxError) -> [UInt8] {
        if case .word(let word) = token.kind, !dialect.isReserved(token.name) {
            at += 1
            return Array(word.utf8)
        }
        guard case .literal(.string(let utf8)) = try dialect.right(&self, field) else {
            throw expected("a string after \"\(dialect.name(of: .prefix))\"")
        }
        return utf8
    }

    private mutating func null(_ field: FieldPath) throws(FilterSyntaxError) -> Clause {
        let isNegated = take(dialect.not)
        try pass(dialect.null)
        return isNegated
            ? .and([.hasField(field, nil), .not(.hasField(field, .null))])
            : .or([.not(.hasField(field, nil)), .hasField(field, .null)])
    }

    private mutating func between(_ field: FieldPath) throws(FilterSyntaxError) -> Clause {
        let lower = try dialect.right(&self, field)
        try pass(dialect.and, "\"\(dialect.and)\" between the two limits")
        let position = token.position
        let upper = try dialect.right(&self, field)
        guard let clause = lower.clause(field, to: upper) else {
            throw fault("expected two numbers, two strings or two times", at: position)
        }
        return clause
    }

    /// One of the values of a list; a long list becomes several clauses.
    private mutating func membership(_ field: TextField) throws(FilterSyntaxError) -> Clause {
        var literals: [Literal] = []
        let name = dialect.name(of: .membership)
        var clauses = try list("\"(\" and a list of values after \"\(name)\"") {
            parser throws(FilterSyntaxError) -> Clause? in
            if field.isFolded { return try parser.foldedEquality(field.path) }
            let value = try parser.dialect.right(&parser, field.path)
            guard case .literal(let literal) = value else { return value.equality(field.path) }
            literals.append(literal)
            return nil
        }.compactMap(\.self)
        var rest = literals[...]
        while !rest.isEmpty {
            clauses.append(.isIn(field.path, Array(rest.prefix(limits.inValues))))
            rest = rest.dropFirst(limits.inValues)
        }
        nodes += clauses.count
        return clauses.count == 1 ? clauses[0] : .or(clauses)
    }
}
