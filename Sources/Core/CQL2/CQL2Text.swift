import Objects
import QueryLanguage

// LIKE, and comparison without regard to case.

extension CQL2Parser {
    /// `CASEI(…)` around a property or a string; the current token is the word.
    mutating func foldedOperand() throws(CQL2SyntaxError) -> CQL2Operand {
        at += 2
        guard token.keyword != "CASEI" || !isCall else {
            throw expected("a property or a string in \"CASEI(…)\"")
        }
        let position = token.position
        let folded: CQL2Operand
        switch try operand() {
        case .property(let field), .foldedProperty(let field): folded = .foldedProperty(field)
        case .literal(.string(let utf8)):
            folded = .literal(.string(utf8.withUnsafeBufferPointer(CaseFolding.folded)))
        case .literal, .time:
            throw CQL2SyntaxError("expected a property or a string", at: position)
        }
        guard take(mark: ")") else { throw expected("\")\"") }
        return folded
    }

    /// What follows `CASEI(f)`.
    mutating func predicate(onFolded field: FieldPath) throws(CQL2SyntaxError) -> Clause {
        if let symbol = takeComparison() { return try foldedComparison(field, symbol) }
        let isNegated = take(keyword: "NOT")
        let clause: Clause
        if take(keyword: "LIKE") {
            clause = try like(field, ignoringCase: true)
        } else if take(keyword: "IN") {
            clause = try foldedMembership(field)
        } else {
            throw expected("=, <>, LIKE or IN after \"CASEI(…)\"")
        }
        return isNegated ? .not(clause) : clause
    }

    /// A folded property beside a string, which follows.
    mutating func foldedComparison(
        _ field: FieldPath, _ symbol: String
    ) throws(CQL2SyntaxError) -> Clause {
        guard symbol == "=" || symbol == "<>" else {
            throw fault("\"CASEI\" stands beside =, <>, LIKE and IN")
        }
        let equality = try foldedEquality(field)
        return symbol == "=" ? equality : .not(equality)
    }

    private mutating func foldedMembership(
        _ field: FieldPath
    ) throws(CQL2SyntaxError) -> Clause {
        guard take(mark: "(") else { throw expected("\"(\" and a list of values after \"IN\"") }
        var clauses = [try foldedEquality(field)]
        while take(mark: ",") { clauses.append(try foldedEquality(field)) }
        guard take(mark: ")") else { throw expected("\",\" or \")\"") }
        nodes += clauses.count
        return clauses.count == 1 ? clauses[0] : .or(clauses)
    }

    private mutating func foldedEquality(_ field: FieldPath) throws(CQL2SyntaxError) -> Clause {
        let position = token.position
        guard case .literal(.string(let utf8)) = try operand() else {
            throw CQL2SyntaxError("expected a string", at: position)
        }
        return try clause(field, like: Self.pattern(of: utf8), ignoringCase: true, at: position)
    }

    /// The pattern that a text alone matches.
    private static func pattern(of text: [UInt8]) -> [UInt8] {
        text.flatMap { "%_\\".utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
    }

    /// A property that is like a pattern, which follows.
    ///
    /// - Parameter ignoringCase: whether the property is folded.
    mutating func like(
        _ field: FieldPath, ignoringCase: Bool = false
    ) throws(CQL2SyntaxError) -> Clause {
        let position = token.position
        return try clause(
            field, like: Array(try pattern().utf8), ignoringCase: ignoringCase, at: position)
    }

    /// A pattern, perhaps folded. A backslash keeps its meaning there.
    private mutating func pattern() throws(CQL2SyntaxError) -> String {
        guard token.keyword == "CASEI", isCall else { return try spelledPattern() }
        at += 2
        let pattern = CaseFolding.folded(try spelledPattern())
        guard take(mark: ")") else { throw expected("\")\"") }
        return pattern
    }

    private mutating func spelledPattern() throws(CQL2SyntaxError) -> String {
        guard case .string(let text) = token.kind else { throw expected("a pattern in quotes") }
        at += 1
        return text
    }

    private func clause(
        _ field: FieldPath, like pattern: [UInt8], ignoringCase: Bool, at position: Int
    ) throws(CQL2SyntaxError) -> Clause {
        // A folded text is never like what is not folded.
        guard !ignoringCase || pattern.withUnsafeBufferPointer(CaseFolding.folded) == pattern else {
            return .and([.prefix(field, []), .not(.prefix(field, []))])
        }
        do throws(InvalidPattern) {
            return try LikePattern(pattern, ignoringCase: ignoringCase).clause(of: field)
        } catch {
            throw CQL2SyntaxError(error.reason, at: position)
        }
    }
}
