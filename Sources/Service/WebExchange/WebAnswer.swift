import HTTPTypes

/// An answer of the web port.
///
/// The server adds the headers that every answer has: `Date`, `Content-Length`, those that protect
/// pages, those for other origins. It sends no body in answer to HEAD.
public struct WebAnswer: Sendable {
    /// The body of an answer.
    public enum Body: Sendable {
        /// All of it.
        case whole([UInt8])
        /// Written piece by piece. When the closure throws, the connection is closed before the
        /// body's end, so that no client takes a part for the whole.
        case streamed(@Sendable (any WebBodyWriter) async throws -> Void)
    }

    /// The status.
    public var status: HTTPResponse.Status
    /// The answer's own header fields. Without a `Cache-Control`, the server sends `no-store`.
    public var headers: HTTPFields
    /// The body.
    public var body: Body
    /// Whether the body stays in memory in any case, such as a file that many are sent.
    public var isShared = false
    /// Makes the whole body's gzip, where that is kept; nil: it is made anew for each answer.
    public var gzip: (@Sendable () -> [UInt8])?

    /// An answer by its parts.
    public init(
        _ status: HTTPResponse.Status = .ok, headers: HTTPFields = [:],
        body: Body = .whole([])
    ) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// An answer whose body is of a media type.
    public init(_ type: String, _ body: [UInt8], _ status: HTTPResponse.Status = .ok) {
        self.init(status, headers: [.contentType: type], body: .whole(body))
    }

    /// The whole body; nil for a streamed one.
    public var bytes: [UInt8]? {
        if case .whole(let bytes) = body { bytes } else { nil }
    }
}

/// Takes a body piece by piece.
public protocol WebBodyWriter: Sendable {
    /// Sends a piece, and waits until the connection takes more.
    ///
    /// - Throws: when the client is gone.
    func write(_ piece: [UInt8]) async throws
}
