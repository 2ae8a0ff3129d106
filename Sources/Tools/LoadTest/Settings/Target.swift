import JSONText
import NIOCore

/// The service under load.
public struct Target: Sendable {
    /// A host name or an address, IPv6 without brackets.
    public var host: String
    /// The TCP port.
    public var port: Int
    /// The token for `auth.login` on each connection, over HTTP for each request; nil means no login.
    public var token: String?
    /// The queries that the web port at this host and port takes; nil means the line port.
    public var web: WebQueries?
    /// Makes the channel handlers before the load's own handler, for TLS. They must buffer writes
    /// until they can pass them on.
    public var transport: @Sendable () throws -> [any ChannelHandler]

    /// `HOST:PORT`, an IPv6 host in brackets.
    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// The authority; over HTTP the path behind it.
    var description: String { authority + (web?.path ?? "") }

    /// The first request on a connection: the login, or one that shows that requests are answered.
    var greeting: [UInt8] {
        guard web == nil else {
            return Array(#"{"bucketQuery":{"clause":{"type":"all"}},"bestEffortLimit":1}"#.utf8)
        }
        var line = JSONWriter()
        line.raw(#"{"jsonrpc":"2.0","id":1,"method":"#)
        if let token {
            line.raw(#""auth.login","params":{"token":"#)
            line.string(token)
            line.raw("}}\n")
        } else {
            line.raw("\"server.ping\"}\n")
        }
        return line.bytes
    }

    /// Stores its arguments; without a transport, connections are plain TCP.
    public init(
        host: String, port: Int, token: String? = nil,
        transport: (@Sendable () throws -> [any ChannelHandler])? = nil
    ) {
        self.host = host
        self.port = port
        self.token = token
        self.transport = transport ?? { [] }
    }
}

/// Kii's `/query` of one bucket, which takes queries over HTTP.
public struct WebQueries: Sendable {
    /// The path of every request.
    let path: String
    /// The application's id.
    let app: String
    /// The application's key; nil if clients need none.
    let key: String?

    /// - Parameter bucket: as on the line port: `shops`, `users/alice/notes`.
    public init(app: String, key: String?, bucket: String) {
        let name = bucket.split(separator: "/")
        let scope = name.dropLast().map { $0 + "/" }.joined()
        path = "/api/apps/\(app)/\(scope)buckets/\(name.last ?? "")/query"
        (self.app, self.key) = (app, key)
    }
}

/// One call of a method, with params and result as JSON text.
public typealias Call = @Sendable (_ method: String, _ params: [UInt8]) async throws -> [UInt8]

/// Opens a connection besides the load's, passes `body` a way to make calls on it, and closes it.
public typealias Control =
    @Sendable (_ body: (@escaping Call) async throws -> Void) async throws -> Void
