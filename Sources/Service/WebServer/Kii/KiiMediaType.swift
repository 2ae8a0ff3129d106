import HTTPTypes
import WebExchange

/// The media type of a body, read leniently.
struct KiiMediaType {
    /// The type without parameters and stray quotes, in the client's case.
    let text: String

    /// - Parameter field: the value of `Content-Type`; nil stands for JSON.
    /// - Throws: 415 for a type that is not JSON by its name.
    init(_ field: String?) throws(KiiFailure) {
        var text = String((field ?? "application/json").prefix { $0 != ";" }.trimmed)
        while text.hasSuffix("\"") { text.removeLast() }
        let name = text.lowercased()
        guard name.hasSuffix("/json") || name.hasSuffix("+json") else {
            throw KiiFailure(
                .invalidDataType, "the Content-Type is not JSON; send application/json",
                status: .unsupportedMediaType)
        }
        self.text = text
    }

    /// The data type of an object that is created with this media type: the bare name if it is one
    /// of the application's; nil for plain JSON.
    func dataType(in app: String, atMost bytes: Int) throws(KiiFailure) -> String? {
        let (start, end) = ("application/vnd.\(app).", "+json")
        guard text.hasPrefix(start), text.hasSuffix(end) else { return nil }
        guard text.utf8.count > start.utf8.count + end.utf8.count else {
            throw KiiFailure(
                .invalidDataType, "the Content-Type names no type after \"vnd.\(app).\"")
        }
        let name = text.dropFirst(start.utf8.count).dropLast(end.utf8.count)
        // Clients call plain JSON so: "application/vnd.myapp.application/json+json".
        guard name != Self.json else { return nil }
        guard name.utf8.count <= bytes else {
            throw KiiFailure(.invalidDataType, "a data type has at most \(bytes) bytes")
        }
        guard Self.isToken(name) else {
            throw KiiFailure(
                .invalidDataType, "a data type is a token: letters, digits and !#$&-^_.+")
        }
        return String(name)
    }

    /// The content type of an object by its `_dataType`, which is a name, or from the line port any
    /// text, such as a media type. It is JSON in any case, because the object is, and one type
    /// alone: of several, with commas between them, a browser would take one.
    static func contentType(of dataType: String?, in app: String) -> String {
        guard let dataType else { return json }
        let text =
            dataType.contains("/")
            ? (try? KiiMediaType(dataType))?.text : "application/vnd.\(app).\(dataType)+json"
        guard let text,
            case let parts = text.split(separator: "/", omittingEmptySubsequences: false),
            parts.count == 2, parts.allSatisfy(isToken)
        else { return json }
        return text
    }

    /// - Reference: RFC 9110, 5.6.2.
    private static func isToken(_ text: Substring) -> Bool {
        HTTPField.Name(String(text)) != nil
    }

    static let json = "application/json"
}
