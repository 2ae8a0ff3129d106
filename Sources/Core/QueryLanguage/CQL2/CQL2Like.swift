import Objects

// LIKE, and comparison without regard to case.

extension TextDialect {
    /// The function that makes case not matter.
    static let folding = "CASEI"

    /// What may stand behind a folded property.
    var expectedBehindFolding: String {
        "\(names { $0.ignoresCase }) after \"\(Self.folding)(…)\""
    }

    /// Why nothing else stands there.
    var refusesFolding: String {
        "\"\(Self.folding)\" stands beside \(names("and") { $0.ignoresCase })"
    }
}

extension TextParser {
    private var isFolding: Bool { isCall && token.name == TextDialect.folding }

    /// A property or a string, what is behind `CASEI(`.
    mutating func foldedOperand() throws(FilterSyntaxError) -> TextOperand {
        guard !isFolding else {
            throw expected("a property or a string in \"\(TextDialect.folding)(…)\"")
        }
        let position = token.position
        let folded: TextOperand
        switch try operand() {
        case .field(let field): folded = .field(TextField(path: field.path, isFolded: true))
        case .literal(.string(let utf8)):
            folded = .literal(.string(utf8.withUnsafeBufferPointer(CaseFolding.folded)))
        case .literal, .time: throw fault("expected a property or a string", at: position)
        }
        try pass(")")
        return folded
    }

    /// What a folded property is equal to: a string, which comes next.
    mutating func foldedEquality(_ field: FieldPath) throws(FilterSyntaxError) -> Clause {
        let position = token.position
        guard case .literal(.string(let utf8)) = try operand() else {
            throw fault("expected a string", at: position)
        }
        // The pattern that the text alone matches.
        let pattern = utf8.flatMap { "%_\\".utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
        return try clause(TextField(path: field, isFolded: true), like: pattern, at: position)
    }

    /// A property that is like a pattern, which comes next.
    mutating func like(_ field: TextField) throws(FilterSyntaxError) -> Clause {
        let position = token.position
        return try clause(field, like: Array(try pattern().utf8), at: position)
    }

    /// A pattern, perhaps folded. A backslash keeps its meaning there.
    private mutating func pattern() throws(FilterSyntaxError) -> String {
        let isFolded = isFolding
        if isFolded { at += 2 }
        guard case .string(let text) = token.kind else { throw expected("a pattern in quotes") }
        at += 1
        guard isFolded else { return text }
        try pass(")")
        return CaseFolding.folded(text)
    }

    private func clause(
        _ field: TextField, like pattern: [UInt8], at position: Int
    ) throws(FilterSyntaxError) -> Clause {
        let path = field.path
        // A folded text is never like what is not folded.
        guard
            !field.isFolded || pattern.withUnsafeBufferPointer(CaseFolding.folded) == pattern
        else { return .and([.prefix(path, []), .not(.prefix(path, []))]) }
        do throws(InvalidPattern) {
            return try LikePattern(pattern, ignoringCase: field.isFolded).clause(of: path)
        } catch {
            throw fault(error.reason, at: position)
        }
    }
}
