import CJSONNodes

/// Why a text is not JSON, and the byte offset of the fault where the parser knows it.
public struct JSONSyntaxError: Error, Sendable, Equatable {
    /// What is wrong, in words for people.
    public let message: String
    /// The byte offset in the text; nil where the parser does not know it.
    public let offset: Int?

    package init(message: String, offset: Int?) {
        self.message = message
        self.offset = offset
    }

    package static func notJSON(at offset: Int?) -> JSONSyntaxError {
        JSONSyntaxError(message: "the text is not valid JSON", offset: offset)
    }

    package static func notUTF8(at offset: Int?) -> JSONSyntaxError {
        JSONSyntaxError(message: "the text is not valid UTF-8", offset: offset)
    }

    package static func tooDeep(at offset: Int?) -> JSONSyntaxError {
        JSONSyntaxError(
            message: "the text is nested deeper than \(gb_json_maximum_depth) levels",
            offset: offset)
    }

    package static let tooLarge = JSONSyntaxError(
        message: "the text does not fit in memory", offset: nil)
}
