import Objects
import PlainJSON

/// Splits a text into the tokens of a dialect.
struct TextLexer {
    let dialect: TextDialect
    let text: String
    let scalars: [Unicode.Scalar]
    /// The code points that have been read.
    var at = 0

    init(_ text: String, _ dialect: TextDialect) {
        (self.text, self.dialect) = (text, dialect)
        scalars = Array(text.unicodeScalars)
    }

    /// All tokens, the last of them `end`.
    mutating func tokens() throws(FilterSyntaxError) -> [TextToken] {
        var tokens: [TextToken] = []
        repeat { tokens.append(try next()) } while tokens.last!.kind != .end
        return tokens
    }

    private mutating func next() throws(FilterSyntaxError) -> TextToken {
        while at < scalars.count, scalars[at].properties.isWhitespace { at += 1 }
        let position = at
        let kind = at < scalars.count ? try kind(from: scalars[at]) : .end
        let name: String? =
            switch kind {
            case .word(let word): dialect.spelled(word)
            case .sign(let sign): sign
            default: nil
            }
        return TextToken(kind: kind, name: name, position: position)
    }

    private mutating func kind(
        from first: Unicode.Scalar
    ) throws(FilterSyntaxError) -> TextToken.Kind {
        if let isField = dialect.quotes[first] {
            let text = try quotedText(by: first)
            if !isField { return .string(text) }
            return .name(dialect.doublesQuotes ? text.replacing("\\\\", with: "\\") : text)
        }
        for length in [2, 1] where at + length <= scalars.count {
            let start = string(scalars[at..<at + length])
            if let hint = dialect.hints[start] { throw fault(hint) }
            if !isWord(first), dialect.isSign(start) {
                at += length
                return .sign(start)
            }
        }
        if dialect.hasNumbers, isDigit(first) || ".+-".unicodeScalars.contains(first) {
            return .number(try number())
        }
        guard isWord(first) else { throw fault("unexpected \(quoted(String(first)))") }
        return .word(word())
    }

    // MARK: Words

    private func isDigit(_ scalar: Unicode.Scalar) -> Bool { "0"..."9" ~= scalar }

    private func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "_", ":": true
        default: !scalar.isASCII && !scalar.properties.isWhitespace
        }
    }

    private func isWord(_ scalar: Unicode.Scalar) -> Bool {
        isLetter(scalar) || isDigit(scalar) || dialect.wordMarks.contains(scalar)
    }

    private mutating func word() -> String {
        let start = at
        let isNumber = scalars[at] == "-" || isDigit(scalars[at])
        while at < scalars.count {
            // The sign of an exponent is part of a number: 1e+5.
            let isSign =
                isNumber && scalars[at] == "+" && "eE".unicodeScalars.contains(scalars[at - 1])
            guard isWord(scalars[at]) || isSign else { break }
            at += 1
        }
        return string(scalars[start..<at])
    }

    // MARK: Numbers

    /// A number, in a few more spellings than JSON has: `+1`, `.5`, `1.`, `007`.
    private mutating func number() throws(FilterSyntaxError) -> JSONNumber {
        let start = at
        let sign = scalars[at] == "-" ? "-" : ""
        take("+-")
        let whole = digits()
        let fraction = take(".") ? digits() : ""
        guard !whole.isEmpty || !fraction.isEmpty else {
            at = start
            throw fault("expected a number")
        }
        let end = at
        if take("eE") {
            take("+-")
            if digits().isEmpty { at = end }
        }
        guard at == scalars.count || !isLetter(scalars[at]) else {
            throw fault(
                "a name cannot begin with a digit; a \(dialect.field) may stand in "
                    + dialect.fieldQuotes)
        }
        let shortest = whole.drop { $0 == "0" }
        let text =
            sign + (shortest.isEmpty ? "0" : shortest) + (fraction.isEmpty ? "" : "." + fraction)
            + string(scalars[end..<at])
        guard let number = try? PlainJSONParser.reading(Array(text.utf8), { $0.number }) else {
            at = start
            throw fault("the number is outside the range of numbers")
        }
        return number
    }

    /// Passes over the next scalar if it is one of some.
    @discardableResult
    private mutating func take(_ some: String) -> Bool {
        guard at < scalars.count, some.unicodeScalars.contains(scalars[at]) else { return false }
        at += 1
        return true
    }

    private mutating func digits() -> String {
        let digits = scalars[at...].prefix { isDigit($0) }
        at = digits.endIndex
        return string(digits)
    }

    // MARK: Texts

    func string(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    func fault(_ message: String) -> FilterSyntaxError {
        FilterSyntaxError(message, at: at, of: text)
    }
}
