// Texts between quotes.

extension TextLexer {
    /// The text between quotes of one kind, without its escapes; the first quote comes next.
    mutating func quotedText(by quote: Unicode.Scalar) throws(FilterSyntaxError) -> String {
        let start = at
        var text = String.UnicodeScalarView()
        at += 1
        while at < scalars.count {
            if let escaped = try escaped(quote) {
                text.append(contentsOf: escaped)
            } else if scalars[at] == quote {
                at += 1
                return String(text)
            } else {
                text.append(scalars[at])
                at += 1
            }
        }
        at = start
        throw fault("the quote \(dialect.doublesQuotes ? "" : "\(quote) ")is not closed")
    }

    /// Reads an escape or a doubled quote; nil, with nothing read, for a character that is itself.
    private mutating func escaped(
        _ quote: Unicode.Scalar
    ) throws(FilterSyntaxError) -> [Unicode.Scalar]? {
        let (first, letter) = (scalars[at], at + 1 < scalars.count ? scalars[at + 1] : " ")
        guard first == "\\" || dialect.doublesQuotes && first == quote else { return nil }
        let meaning: [Unicode.Scalar]
        switch letter {
        case quote: meaning = [quote]
        case _ where first == quote: return nil
        case _ where Self.controls[letter] != nil: meaning = [Self.controls[letter]!]
        case "\\" where dialect.doublesQuotes: meaning = ["\\", "\\"]
        case _ where dialect.doublesQuotes: return nil
        case "\"", "'", "`", "\\", "/": meaning = [letter]
        case "u": return [try unicodeEscape()]
        default:
            throw fault("unknown escape; known are \\\" \\' \\` \\\\ \\/ \\n \\t \\r \\uXXXX")
        }
        at += 2
        return meaning
    }

    /// What stands behind a backslash for a control character.
    private static let controls: [Unicode.Scalar: Unicode.Scalar] = [
        "b": "\u{8}", "f": "\u{C}", "n": "\n", "r": "\r", "t": "\t",
    ]

    /// `\uXXXX`, or a surrogate pair of two.
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

    /// Reads `\uXXXX`; nil, with nothing read, for anything else.
    private mutating func hexUnit() -> UInt16? {
        guard at + 6 <= scalars.count, scalars[at] == "\\", scalars[at + 1] == "u" else {
            return nil
        }
        let digits = string(scalars[at + 2..<at + 6])
        guard !digits.hasPrefix("+"), !digits.hasPrefix("-"), let unit = UInt16(digits, radix: 16)
        else { return nil }
        at += 6
        return unit
    }
}
