/// Conditions as people type them: `field OP value`, joined by `and`, `or`, `not`, parentheses.
///
///     try FilterExpression.parse("kind = shop and not (price >= 100 or closed exists)")
///
/// | written | means |
/// | --- | --- |
/// | `f = v`, `f != v` | `eq`, and `not` of it: unknown where `f` is missing |
/// | `f < v`, `<=`, `>`, `>=` | `range`; v is a number or a string |
/// | `f ^= v` | `prefix`; a bare v is a string whatever it looks like |
/// | `f ~ v` | `contains`, in a string or an array |
/// | `f in (v, v)`, `f in [v, v]`, `f not in (v)` | `in`, and `not` of it |
/// | `f exists` | `hasField` of any type |
///
/// `not` binds closest, then `and`, then `or`; keywords in any case. A value is a JSON number,
/// `true`, `false`, `null` (in any case), `point(LAT,LON)`, a string in single or double quotes,
/// or a bare word of letters, digits, `-_.:/` and anything outside ASCII. A field is a bare word,
/// or any name in backquotes. In quotes and backquotes the backslash escapes as in JSON.
///
/// - Note: `and`, `or`, `not` and `in` are keywords wherever they are not quoted.
public struct FilterExpression {
    /// The most levels of nested parentheses and `not`s. The service's own limit is lower.
    static let maximumNesting = 200

    /// The clause that the text describes; a chain of `and`s or of `or`s is one clause.
    ///
    /// - Complexity: O(n) of the text's length.
    public static func parse(_ text: String) throws(FilterSyntaxError) -> Clause {
        var parser = FilterExpressionParser(tokens: try FilterExpressionToken.all(of: text), text)
        return try parser.parse()
    }
}

/// Why a text is not a filter expression, and where.
public struct FilterSyntaxError: Error, Sendable, Hashable {
    /// What was expected and what was found, without the place.
    public let message: String
    /// The column of the character at fault, from 1; one behind the last at the end of the text.
    public let offset: Int
    /// The whole text of the expression.
    public let text: String

    init(_ message: String, at scalar: Int, of text: String) {
        let start = text.unicodeScalars.startIndex
        let index = text.unicodeScalars.index(start, offsetBy: scalar)
        self.message = message
        self.text = text
        // Counts the whole characters before the offset; an offset inside a character means that
        // character.
        offset = text.indices.prefix { $0 < index && text.index(after: $0) <= index }.count + 1
    }
}

extension FilterSyntaxError: CustomStringConvertible {
    /// The message with its column, the text, and a caret under the column.
    public var description: String {
        let shown = text.map { $0.isWhitespace ? " " : String($0) }.joined()
        // Ideographs and kana take two columns of a terminal; the caret must be under them.
        let before = text.prefix(offset - 1).map { character in
            character.unicodeScalars.first!.value >= 0x2E80 ? "  " : " "
        }
        return "column \(offset): \(message)\n  \(shown)\n  \(before.joined())^"
    }
}
