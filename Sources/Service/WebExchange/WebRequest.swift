import HTTPTypes
import ServiceDesk

/// A request of the web port, with its whole body where one is taken.
///
///     let request = WebRequest(.get, "/tiles/air~ports/3/1/2.mvt?filter=kind%20%3D%20heliport")
///     request.path            // ["tiles", "air~ports", "3", "1", "2.mvt"]
///     request.query.first     // ("filter", "kind = heliport")
public struct WebRequest: Sendable {
    /// The HTTP method, as it came.
    public let method: HTTPRequest.Method
    /// The path and query as they came.
    public let target: String
    /// The path's segments, decoded. Empty for `/`; a `/` at the end adds an empty segment. What is
    /// behind `segmentLimit` segments is a part of the last.
    public let path: [String]
    private let parameters: LazyParameters
    /// The header fields.
    public let headers: HTTPFields
    /// The body; empty without one, and before it has been read.
    public var body: [UInt8]
    /// Who sends the request, once that is known.
    public var caller: Caller?
    /// The address that the request came from, as limits by address see it.
    public var address: String
    /// Where clients reach the web port, such as `https://geo.example.com`, without a `/` at its
    /// end: the start of links.
    public let base: String

    /// The most parameters of a query or a form.
    public static let parameterLimit = 256
    /// The most segments of a path.
    static let segmentLimit = 16

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
        let bytes = Array(target.utf8)
        let path = bytes.prefix { $0 != UInt8(ascii: "?") }
        let segments = path.drop { $0 == UInt8(ascii: "/") }.split(
            separator: UInt8(ascii: "/"), maxSplits: Self.segmentLimit - 1,
            omittingEmptySubsequences: false)
        self.path = segments == [[]] ? [] : segments.map { FormEncoding.decoded($0) }
        // One more, to see that there are too many.
        parameters = LazyParameters(
            Array(bytes[path.endIndex...].dropFirst()), atMost: Self.parameterLimit + 1)
    }

    /// The query's parameters in order, decoded; a parameter without a value has an empty one. Read
    /// when it is first asked for; `parameterLimit` and one more at most.
    public var query: [(name: String, value: String)] { parameters.list }

    /// Refuses a query with too many parameters.
    public func checkParameterCount() throws(WebFailure) {
        guard query.count <= Self.parameterLimit else {
            throw .invalid("a request has at most \(Self.parameterLimit) parameters")
        }
    }

    /// Refuses methods that a path does not take.
    public func check(methods: [HTTPRequest.Method]) throws(WebFailure) {
        guard methods.contains(method) else { throw .methodNotAllowed(methods) }
    }

    /// The first parameter of a name.
    public subscript(name: String) -> String? { query.first { $0.name == name }?.value }

    /// The media type of the body in lower case, without its parameters; empty without one.
    public var mediaType: String {
        Substring((headers[.contentType] ?? "").utf8.prefix { $0 != UInt8(ascii: ";") })
            .trimmed.lowercased()
    }

    /// The tags of the answers that the client has (`If-None-Match`), weak or not, without their
    /// quotes; a tag of this service has no comma in it.
    public var knownTags: [String] {
        let tags = headers[values: .ifNoneMatch].flatMap { $0.utf8.split(separator: 0x2C) }
        return tags.map { tag in
            var tag = Substring(Substring(tag).trimmed)
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

    /// The first parameter of a name in a form.
    public static func parameter(_ name: String, ofForm form: [UInt8]) -> String? {
        FormEncoding.parameters(form, atMost: parameterLimit).first { $0.name == name }?.value
    }
}

extension Substring {
    /// The text without blanks and tabs at its ends.
    public var trimmed: String {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        var bytes = utf8.drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return String(Substring(bytes))
    }
}
