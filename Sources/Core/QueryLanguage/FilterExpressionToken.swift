/// One token of a filter expression and its offset in Unicode scalars, from 0.
struct FilterExpressionToken {
    enum Kind: Equatable {
        /// A bare word: a field, a value or a keyword, depending on the context.
        case word(String)
        /// A string in quotes, escapes resolved.
        case string(String)
        /// A field in backquotes, escapes resolved.
        case name(String)
        /// `= != < <= > >= ^= ~`
        case comparison(String)
        /// `( ) [ ] ,`
        case mark(Character)
        case end
    }

    let kind: Kind
    let position: Int

    /// The tokens of a text, the last of them `end`.
    static func all(of text: String) throws(FilterSyntaxError) -> [FilterExpressionToken] {
        var lexer = FilterExpressionLexer(text)
        var tokens: [FilterExpressionToken] = []
        repeat { tokens.append(try lexer.next()) } while tokens.last!.kind != .end
        return tokens
    }

    /// The word in lower case if it is bare, for comparison with keywords.
    var keyword: String? {
        if case .word(let word) = kind { return word.lowercased() }
        return nil
    }

    /// What the token is, for "expected …, found …".
    var description: String {
        switch kind {
        case .word(let word): "\"\(word)\""
        case .string(let text): "the string \"\(text)\""
        case .name(let name): "the field `\(name)`"
        case .comparison(let symbol): "\"\(symbol)\""
        case .mark(let mark): "\"\(mark)\""
        case .end: "the end"
        }
    }
}

/// Splits the text of a filter expression into tokens.
struct FilterExpressionLexer {
    private let text: String
    private let scalars: [Unicode.Scalar]
    private var at = 0

    init(_ text: String) {
        self.text = text
        scalars = Array(text.unicodeScalars)
    }

    mutating func next() throws(FilterSyntaxError) -> FilterExpressionToken {
        while at < scalars.count, scalars[at].properties.isWhitespace { at += 1 }
        let position = at
        guard at < scalars.count else {
            return FilterExpressionToken(kind: .end, position: position)
        }
        return FilterExpressionToken(kind: try kind(from: scalars[at]), position: position)
    }

    private mutating func kind(
        from first: Unicode.Scalar
    ) throws(FilterSyntaxError) -> FilterExpressionToken.Kind {
        switch first {
        case "(", ")", "[", "]", ",":
            at += 1
            return .mark(Character(first))
        case "\"", "'": return .string(try quoted(by: first))
        case "`": return .name(try quoted(by: first))
        case "=", "!", "<", ">", "^", "~": return .comparison(try comparison())
        case "\u{201C}", "\u{201D}", "\u{2018}", "\u{2019}":
            throw fault("typographic quotes do not quote here; use \" or '")
        case "&": throw fault("unexpected \"&\"; conditions are joined by \"and\"")
        case "|": throw fault("unexpected \"|\"; conditions are joined by \"or\"")
        default:
            guard Self.isWord(first) else { throw fault("unexpected \"\(first)\"") }
            return .word(word())
        }
    }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".", ":", "/": true
        default: !scalar.isASCII && !scalar.properties.isWhitespace
        }
    }

    private mutating func word() -> String {
        let start = at
        let isNumber = scalars[at] == "-" || ("0"..."9").contains(scalars[at])
        while at < scalars.count {
            // The sign of an exponent is part of a number: 1e+5.
            let isSign =
                isNumber && scalars[at] == "+" && "eE".unicodeScalars.contains(scalars[at - 1])
            guard Self.isWord(scalars[at]) || isSign else { break }
            at += 1
        }
        return Self.string(scalars[start..<at])
    }

    private static func string(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    private mutating func comparison() throws(FilterSyntaxError) -> String {
        let pair = Self.string(scalars[at..<min(at + 2, scalars.count)])
        switch pair {
        case "!=", "<=", ">=", "^=":
            at += 2
            return pair
        case "==": throw fault("there is no \"==\"; equality is \"=\"")
        case "<>": throw fault("there is no \"<>\"; inequality is \"!=\"")
        default: break
        }
        switch scalars[at] {
        case "!": throw fault("unexpected \"!\"; inequality is \"!=\", negation \"not\"")
        case "^": throw fault("unexpected \"^\"; \"begins with\" is \"^=\"")
        default: break
        }
        defer { at += 1 }
        return String(scalars[at])
    }

    /// The text between quotes of one kind; `at` is the opening one.
    private mutating func quoted(by quote: Unicode.Scalar) throws(FilterSyntaxError) -> String {
        let start = at
        var result = String.UnicodeScalarView()
        at += 1
        while at < scalars.count, scalars[at] != quote {
            if scalars[at] == "\\" {
                result.append(try escape())
            } else {
                result.append(scalars[at])
                at += 1
            }
        }
        guard at < scalars.count else {
            at = start
            throw fault("the quote \(quote) is not closed")
        }
        at += 1
        return String(result)
    }

    /// One escape; `at` is its backslash.
    private mutating func escape() throws(FilterSyntaxError) -> Unicode.Scalar {
        let letter = at + 1 < scalars.count ? scalars[at + 1] : " "
        let plain: Unicode.Scalar? =
            switch letter {
            case "\"", "'", "`", "\\", "/": letter
            case "n": "\n"
            case "t": "\t"
            case "r": "\r"
            case "b": "\u{8}"
            case "f": "\u{C}"
            case "u": nil
            default:
                throw fault("unknown escape; known are \\\" \\' \\` \\\\ \\/ \\n \\t \\r \\uXXXX")
            }
        if let plain {
            at += 2
            return plain
        }
        return try unicodeEscape()
    }

    /// `\uXXXX`, or a surrogate pair of two; `at` is the backslash.
    private mutating func unicodeEscape() throws(FilterSyntaxError) -> Unicode.Scalar {
        let start = at
        guard let high = hexUnit() else { throw fault("expected four hex digits after \\u") }
        if let scalar = Unicode.Scalar(high) { return scalar }
        if UTF16.isLeadSurrogate(high), let low = hexUnit(), UTF16.isTrailSurrogate(low) {
            return UTF16.decode(UTF16.EncodedScalar([high, low]))
        }
        at = start
        throw fault("half a surrogate pair is no character")
    }

    /// Reads `\uXXXX` at `at` and advances; returns nil and stays if there is something else.
    private mutating func hexUnit() -> UInt16? {
        guard at + 6 <= scalars.count, scalars[at] == "\\", scalars[at + 1] == "u" else {
            return nil
        }
        let digits = Self.string(scalars[at + 2..<at + 6])
        guard !digits.hasPrefix("+"), !digits.hasPrefix("-"), let unit = UInt16(digits, radix: 16)
        else { return nil }
        at += 6
        return unit
    }

    private func fault(_ message: String) -> FilterSyntaxError {
        FilterSyntaxError(message, at: at, of: text)
    }
}
