import JSONText
import Objects

/// One token of a filter and its offset in code points, from 0.
struct CQL2Token {
    enum Kind: Equatable {
        /// A bare word: a property, a keyword or the name of a function, depending on the context.
        case word(String)
        /// A property in double quotes.
        case name(String)
        /// Two backslashes are left as they are, since a pattern reads them in its own way.
        case string(String)
        case number(JSONNumber)
        /// `= <> < <= > >=`
        case comparison(String)
        /// `( ) ,`
        case mark(Character)
        case end
    }

    let kind: Kind
    let position: Int

    /// The tokens of a text, the last of them `end`.
    static func all(of text: String) throws(CQL2SyntaxError) -> [CQL2Token] {
        var lexer = CQL2Lexer(text)
        var tokens: [CQL2Token] = []
        repeat { tokens.append(try lexer.next()) } while tokens.last!.kind != .end
        return tokens
    }

    /// The word in upper case if it is bare, for comparison with keywords.
    var keyword: String? {
        if case .word(let word) = kind { return word.uppercased() }
        return nil
    }

    /// What the token is, for "expected …, found …".
    var description: String {
        switch kind {
        case .word(let word): quoted(word)
        case .name(let name): "the property \(quoted(name))"
        case .string(let text): "the string \(quoted(text))"
        case .number: "a number"
        case .comparison(let symbol): "\"\(symbol)\""
        case .mark(let mark): "\"\(mark)\""
        case .end: "the end"
        }
    }
}

/// Splits the text of a filter into tokens.
struct CQL2Lexer {
    private let scalars: [Unicode.Scalar]
    private var at = 0
    private let numbers = JSONParser()

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    mutating func next() throws(CQL2SyntaxError) -> CQL2Token {
        while at < scalars.count, scalars[at].properties.isWhitespace { at += 1 }
        let position = at
        guard at < scalars.count else { return CQL2Token(kind: .end, position: position) }
        return CQL2Token(kind: try kind(from: scalars[at]), position: position)
    }

    private mutating func kind(
        from first: Unicode.Scalar
    ) throws(CQL2SyntaxError) -> CQL2Token.Kind {
        switch first {
        case "(", ")", ",":
            at += 1
            return .mark(Character(first))
        case "'": return .string(try quoted(by: first))
        case "\"": return .name(try quoted(by: first).replacing("\\\\", with: "\\"))
        case "=", "<", ">": return .comparison(comparison())
        case "!": throw fault("CQL2 writes \"<>\" for \"not equal\"")
        case "0"..."9", ".", "+", "-":
            return .number(try number())
        case "*", "/", "%", "^": throw fault("arithmetic is not supported")
        case _ where Self.isLetter(first): return .word(word())
        default: throw fault("unexpected \(JSONValue.string(String(first)).text)")
        }
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "_", ":": true
        default: scalar.value >= 0x80 && !scalar.properties.isWhitespace
        }
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { "0"..."9" ~= scalar }

    private mutating func word() -> String {
        take { Self.isLetter($0) || Self.isDigit($0) || $0 == "." }
    }

    private mutating func take(while isTaken: (Unicode.Scalar) -> Bool) -> String {
        var text = ""
        while at < scalars.count, isTaken(scalars[at]) {
            text.unicodeScalars.append(scalars[at])
            at += 1
        }
        return text
    }

    private mutating func comparison() -> String {
        let first = scalars[at]
        at += 1
        guard first != "=", at < scalars.count else { return String(first) }
        let second = scalars[at]
        guard second == "=" || first == "<" && second == ">" else { return String(first) }
        at += 1
        return String(first) + String(second)
    }

    /// What stands behind a backslash for a control character.
    private static let controls: [Unicode.Scalar: Unicode.Scalar] = [
        "b": "\u{8}", "f": "\u{C}", "n": "\n", "r": "\r", "t": "\t",
    ]

    /// A text between quotes; a quote inside is doubled, or stands behind a backslash that is not
    /// itself behind one.
    private mutating func quoted(by quote: Unicode.Scalar) throws(CQL2SyntaxError) -> String {
        let start = at
        var text = ""
        at += 1
        while at < scalars.count {
            let scalar = scalars[at]
            let next = at + 1 < scalars.count ? scalars[at + 1] : nil
            if next == quote, scalar == quote || scalar == "\\" {
                text.unicodeScalars.append(quote)
                at += 2
            } else if scalar == "\\", next == "\\" {
                text += "\\\\"
                at += 2
            } else if scalar == "\\", let control = next.flatMap({ Self.controls[$0] }) {
                text.unicodeScalars.append(control)
                at += 2
            } else if scalar == quote {
                at += 1
                return text
            } else {
                text.unicodeScalars.append(scalar)
                at += 1
            }
        }
        at = start
        throw fault("the quote is not closed")
    }

    /// A number, in a few more spellings than JSON has: `+1`, `.5`, `1.`, `007`.
    private mutating func number() throws(CQL2SyntaxError) -> JSONNumber {
        let start = at
        let sign = scalars[at] == "-" ? "-" : ""
        if scalars[at] == "-" || scalars[at] == "+" { at += 1 }
        let whole = take(while: Self.isDigit)
        var fraction = ""
        if at < scalars.count, scalars[at] == "." {
            at += 1
            fraction = take(while: Self.isDigit)
        }
        guard !whole.isEmpty || !fraction.isEmpty else {
            at = start
            throw fault("expected a number")
        }
        let digits = whole.drop { $0 == "0" }
        var text = sign + (digits.isEmpty ? "0" : digits)
        if !fraction.isEmpty { text += "." + fraction }
        text += exponent()
        guard at == scalars.count || !Self.isLetter(scalars[at]) else {
            throw fault("a name cannot begin with a digit; a property may stand in double quotes")
        }
        let view = try? numbers.parse(Array(text.utf8))
        guard let number = view?.number else {
            at = start
            throw fault("the number is outside the range of numbers")
        }
        return number
    }

    /// `e`, perhaps a sign, and digits; empty if there is none.
    private mutating func exponent() -> String {
        guard at < scalars.count, scalars[at] == "e" || scalars[at] == "E" else { return "" }
        var end = at + 1
        var text = "e"
        if end < scalars.count, scalars[end] == "-" || scalars[end] == "+" {
            text.unicodeScalars.append(scalars[end])
            end += 1
        }
        guard end < scalars.count, Self.isDigit(scalars[end]) else { return "" }
        at = end
        return text + take(while: Self.isDigit)
    }

    private func fault(_ message: String) -> CQL2SyntaxError { CQL2SyntaxError(message, at: at) }
}
