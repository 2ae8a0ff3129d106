import HTTPTypes

/// A request of the web port with its whole body.
///
///     let request = WebRequest(.get, "/tiles/air~ports/3/1/2.mvt?filter=kind%20%3D%20heliport")
///     request.path            // ["tiles", "air~ports", "3", "1", "2.mvt"]
///     request.query.first     // ("filter", "kind = heliport")
public struct WebRequest: Sendable {
    /// The HTTP method, as it came.
    public let method: HTTPRequest.Method
    /// The path and query as they came.
    public let target: String
    /// The path's segments, decoded. Empty for `/`; a `/` at the end adds an empty segment.
    public let path: [String]
    /// The query's parameters in order, decoded; a parameter without a value has an empty one.
    public let query: [(name: String, value: String)]
    /// The header fields.
    public let headers: HTTPFields
    /// The body; empty without one.
    public let body: [UInt8]
    /// The address that the request came from, as limits by address see it.
    public let address: String
    /// Where clients reach the web port, such as `https://geo.example.com`, without a `/` at its
    /// end: the start of links.
    public let base: String

    /// A request by its parts.
    ///
    /// - Parameter target: the path and query, percent-encoded. Text that is not valid percent
    ///   encoding stands for itself.
    public init(
        _ method: HTTPRequest.Method, _ target: String, headers: HTTPFields = [:],
        body: [UInt8] = [], address: String = "127.0.0.1", base: String = "http://localhost"
    ) {
        (self.method, self.target, self.headers, self.body) = (method, target, headers, body)
        (self.address, self.base) = (address, base)
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].drop { $0 == "/" }
        self.path =
            path.isEmpty
            ? [] : path.split(separator: "/", omittingEmptySubsequences: false).map(Self.decoded)
        query = parts.count < 2 ? [] : Self.parameters(parts[1])
    }

    /// Refuses methods that a path does not take.
    public func check(methods: [HTTPRequest.Method]) throws(WebFailure) {
        guard methods.contains(method) else { throw .methodNotAllowed(methods) }
    }

    /// The first parameter of a name.
    public subscript(name: String) -> String? { query.first { $0.name == name }?.value }

    /// The media type of the body in lower case, without its parameters; empty without one.
    public var mediaType: String {
        (headers[.contentType] ?? "").prefix { $0 != ";" }.trimmed.lowercased()
    }

    /// The tags of the answers that the client has (`If-None-Match`), weak or not, without their
    /// quotes; a tag of this service has no comma in it.
    public var knownTags: [String] {
        headers[values: .ifNoneMatch].flatMap { $0.split(separator: ",") }.map { tag in
            var tag = Substring(tag.trimmed)
            if tag.hasPrefix("W/") { tag.removeFirst(2) }
            let isQuoted = tag.count > 1 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
            return String(isQuoted ? tag.dropFirst().dropLast() : tag)
        }
    }

    /// Whether the client has the answer with a tag: 304 is enough (RFC 9110, 13.1.2).
    public func knows(tag: String) -> Bool {
        let tags = knownTags
        return tags.contains(tag) || tags.contains("*")
    }

    /// The parameters of a form's text, which a query is too, in order and decoded.
    public static func parameters(_ text: Substring) -> [(name: String, value: String)] {
        text.split(separator: "&").map { part in
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = sides.count == 2 ? sides[1] : ""
            return (formDecoded(sides[0]), formDecoded(value))
        }
    }

    private static func formDecoded(_ text: Substring) -> String {
        decoded(text.replacing("+", with: " ")[...])
    }

    /// The text of percent-encoded UTF-8.
    private static func decoded(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var (bytes, rest) = ([UInt8](), text.utf8[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, !digits.contains(UInt8(ascii: "+")),
                !digits.contains(UInt8(ascii: "-")), let code = UInt8(Substring(digits), radix: 16)
            else { return String(text) }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self) ?? String(text)
    }
}

extension Substring {
    /// The text without blanks and tabs at its ends.
    public var trimmed: String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        return String(drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
