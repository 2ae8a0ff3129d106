import NIOCore

/// The service under load.
public struct Target: Sendable {
    /// A host name or an address, IPv6 without brackets.
    public var host: String
    /// The TCP port.
    public var port: Int
    /// The token for `auth.login` on each connection; nil means no login.
    public var token: String?
    /// Makes the channel handlers before the load's own handler, for TLS. They must buffer writes
    /// until they can pass them on.
    public var transport: @Sendable () throws -> [any ChannelHandler]

    /// `HOST:PORT`, an IPv6 host in brackets.
    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

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

/// One call of a method, with params and result as JSON text.
public typealias Call = @Sendable (_ method: String, _ params: [UInt8]) async throws -> [UInt8]

/// Opens a connection besides the load's, passes `body` a way to make calls on it, and closes it.
public typealias Control =
    @Sendable (_ body: (@escaping Call) async throws -> Void) async throws -> Void
