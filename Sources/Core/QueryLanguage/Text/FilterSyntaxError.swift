/// Why a text is no condition, and where.
public struct FilterSyntaxError: Error, Sendable, Hashable {
    /// What was expected and what was found, without the place.
    public let message: String
    /// The column of the character at fault, from 1; one behind the last at the end of the text.
    public let offset: Int
    /// The whole text of the condition.
    public let text: String

    /// - Parameter scalar: the number of code points before the one at fault.
    init(_ message: String, at scalar: Int, of text: String) {
        let start = text.unicodeScalars.startIndex
        let index = text.unicodeScalars.index(start, offsetBy: scalar)
        self.message = message
        self.text = text
        // Counts the whole characters before the offset; an offset inside a character means that
        // character.
        offset = text.indices.prefix { $0 < index && text.index(after: $0) <= index }.count + 1
    }

    /// `column 12: expected …`
    public var line: String { "column \(offset): \(message)" }
}

extension FilterSyntaxError: CustomStringConvertible {
    /// The message with its column, the text, and a caret under the column.
    public var description: String {
        let shown = text.map { $0.isWhitespace ? " " : String($0) }.joined()
        // Ideographs and kana take two columns of a terminal; the caret must be under them.
        let before = text.prefix(offset - 1).map { character in
            character.unicodeScalars.first!.value >= 0x2E80 ? "  " : " "
        }
        return "\(line)\n  \(shown)\n  \(before.joined())^"
    }
}
