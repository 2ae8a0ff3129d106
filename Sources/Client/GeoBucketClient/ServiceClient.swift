import Logging
import NIOCore
import PlainJSON
import Synchronization
import Wire

/// Connects to a service, runs `body` and closes, on every path.
///
///     try await GeoBucketClient.with(.standard) { client in
///         let shops = client.bucket("shops")
///         let near = shops.objects(
///             matching: BucketQuery(clause: .geoDistance("location", center: here, radius: 500)))
///         for try await shop in near { print(shop.string(forKey: "name") ?? "?") }
///     }
///
/// - Throws: `ClientFailure.unreachable` if no service answers at the start; what `body` throws.
nonisolated(nonsending) public func with<Result>(
    _ address: ServiceAddress = .standard, configuration: ClientConfiguration = .init(),
    _ body: nonisolated(nonsending) (ServiceClient) async throws -> Result
) async throws -> Result {
    let client = ServiceClient(address, configuration: configuration)
    do {
        try await client.connect()
        let result = try await body(client)
        await client.close()
        return result
    } catch {
        await client.close()
        throw error
    }
}

/// A client of a service, with one connection that reconnects when it is lost.
///
/// Any number of tasks may call at once: their requests share the connection and are pipelined.
/// Reads that lose their connection are retried, with growing pauses. Writes are retried only if
/// they carry a request key (`ClientConfiguration.usesRequestKeys`). Otherwise they fail with
/// `ClientFailure.disconnected`, because they may have happened. A request that was not sent for
/// lack of a connection is always retried. A call ends at its timeout, and at once when its task is
/// cancelled.
public final class ServiceClient: Sendable {
    /// The service that the client connects to.
    public let address: ServiceAddress
    /// The limits, token and TLS settings that were given.
    public let configuration: ClientConfiguration
    private let link = Mutex(Link.none)

    private enum Link {
        case none
        case opening(EventLoopFuture<LineConnection>)
        case open(LineConnection)
        case closed
    }

    /// A client that connects with its first call; `with` also closes it.
    public init(
        _ address: ServiceAddress = .standard, configuration: ClientConfiguration = .init()
    ) {
        self.address = address
        self.configuration = configuration
    }

    deinit {
        if case .open(let connection) = link.withLock({ $0 }) { connection.close() }
    }

    /// Ends the connection. Calls in progress fail with `ClientFailure.disconnected`, later ones
    /// with `.closed`.
    public func close() async {
        let last = link.withLock { link in
            defer { link = .closed }
            return link
        }
        switch last {
        case .open(let connection): try? await connection.close().get()
        case .opening(let future): future.whenSuccess { $0.close() }
        case .none, .closed: break
        }
    }

    /// Connects and logs in once, without retrying.
    func connect() async throws { _ = try await connection(before: deadline()) }

    // MARK: Calls

    /// Makes one call of the protocol; a write is retried only if its params have a `requestKey`.
    ///
    /// - Throws: `ClientFailure`, with `.invalid` for numbers that are not finite;
    ///   `CancellationError`.
    public func call(
        _ method: String, _ params: JSONValue = .object([:])
    ) async throws -> JSONValue {
        let text = try Self.text(params)
        let isRepeatable = Self.isRepeatable(method) || params["requestKey"]?.string != nil
        let answer = try await callText(method, text, isRepeatable: isRepeatable)
        return try Self.reading(answer) { try JSONValue($0) }
    }

    /// - Throws: `ClientFailure.malformedAnswer` for an answer that is not JSON; what `body`
    ///   throws.
    static func reading<Result>(
        _ answer: [UInt8], _ body: (JSONView) throws -> Result
    ) throws -> Result {
        do {
            return try PlainJSONParser.reading(answer, body)
        } catch let error as JSONSyntaxError {
            throw ClientFailure.malformedAnswer(error.message)
        }
    }

    /// - Throws: `ClientFailure.invalid` for numbers that are not finite.
    static func text(_ params: JSONValue) throws -> [UInt8] {
        do {
            return try params.jsonValue.utf8
        } catch let mismatch as JSONMismatch {
            throw ClientFailure.invalid(mismatch.message, path: mismatch.path)
        }
    }

    /// Makes one call of the protocol, with params and result as JSON text; writes are never
    /// retried.
    ///
    /// - Throws: `ClientFailure`, `CancellationError`.
    public func callText(_ method: String, _ params: [UInt8]) async throws -> [UInt8] {
        try await callText(method, params, isRepeatable: Self.isRepeatable(method))
    }

    /// - Parameter isRepeatable: whether performing it twice does no harm.
    func callText(
        _ method: String, _ params: [UInt8], isRepeatable: Bool
    ) async throws -> [UInt8] {
        let deadline = deadline()
        var lastRetry: NIODeadline?
        var random = SystemRandomNumberGenerator()
        var retries = 0
        while true {
            try Task.checkCancellation()
            let start = NIODeadline.now()
            do {
                let connection = try await connection(before: deadline)
                return try await connection.begin(method, params, deadline: deadline).result()
            } catch let failure as ClientFailure {
                guard failure.allowsRetry(isRepeatable: isRepeatable) else { throw failure }
                retries += 1
                // The time spent on a connection that was not made counts, that on an answer does not.
                let loss = failure.isOfConnecting ? start : .now()
                let last = lastRetry ?? loss + TimeAmount(configuration.retryTime)
                lastRetry = last
                let pause = max(
                    configuration.pause(beforeRetry: retries, using: &random),
                    failure.suggestedPause)
                guard NIODeadline.now() + TimeAmount(pause) < min(deadline, last) else {
                    throw failure
                }
                configuration.logger.debug(
                    "a call is tried again",
                    metadata: [
                        "method": "\(method)", "retry": "\(retries)", "failure": "\(failure)",
                    ])
                try await Task.sleep(for: pause)
            }
        }
    }

    private static func isRepeatable(_ method: String) -> Bool {
        MethodName(method)?.mayBeRepeated ?? false
    }

    func deadline() -> NIODeadline { .now() + TimeAmount(configuration.requestTimeout) }

    // MARK: The connection

    /// Whether there is an open connection that calls would use.
    var isConnected: Bool {
        guard case .open(let connection) = link.withLock({ $0 }) else { return false }
        return connection.isOpen
    }

    /// The connection that is open, or being opened for all waiting calls.
    func connection(before deadline: NIODeadline) async throws -> LineConnection {
        let way: Way = try link.withLock { link in
            switch link {
            case .closed: throw ClientFailure.closed
            case .open(let connection) where connection.isOpen: return .now(connection)
            case .opening(let future): return .soon(future)
            case .open, .none:
                let future = open()
                link = .opening(future)
                return .soon(future)
            }
        }
        switch way {
        case .now(let connection): return connection
        case .soon(let future): return try await future.value(before: deadline)
        }
    }

    private enum Way {
        case now(LineConnection)
        case soon(EventLoopFuture<LineConnection>)
    }

    private func open() -> EventLoopFuture<LineConnection> {
        let future = LineConnection.open(
            address, configuration.connectTimeout, tls: configuration.tls,
            silence: configuration.requestTimeout / 2
        )
        .flatMap { connection in
            self.logIn(on: connection).flatMapErrorThrowing { error in
                connection.close()
                throw self.failure(ofLogin: error)
            }
        }
        future.whenComplete { result in self.settle(result) }
        return future
    }

    private func logIn(on connection: LineConnection) -> EventLoopFuture<LineConnection> {
        guard let token = configuration.token else {
            return connection.ended.eventLoop.makeSucceededFuture(connection)
        }
        let params = JSONValue.object(["token": .string(token)]).utf8
        return connection.begin("\(MethodName.login.text)", params, deadline: deadline())
            .futureResult
            .map { _ in connection }
    }

    /// A connection that is lost before the login is answered counts as not connected: nothing else
    /// was sent on it.
    private func failure(ofLogin error: any Error) -> any Error {
        switch error as? ClientFailure {
        case .disconnected?, .timedOut?:
            ClientFailure.unreachable(
                host: address.host, port: address.port, reason: "the login was not answered")
        default: error
        }
    }

    private func settle(_ result: Result<LineConnection, any Error>) {
        let logger = configuration.logger
        switch result {
        case .success(let connection):
            logger.debug("connected", metadata: ["address": "\(address)"])
            connection.ended.whenComplete { [address] _ in
                logger.debug("the connection ended", metadata: ["address": "\(address)"])
            }
        case .failure(let error):
            logger.info(
                "no connection", metadata: ["address": "\(address)", "reason": "\(error)"])
        }
        link.withLock { link in
            guard case .opening = link else { return }
            link = (try? result.get()).map(Link.open) ?? .none
        }
    }
}

extension ClientFailure {
    /// Whether another attempt can do no harm.
    func allowsRetry(isRepeatable: Bool) -> Bool {
        switch self {
        case .unreachable: true
        case .disconnected: isRepeatable
        case .refused(let failure):
            switch failure.reason {
            case .tooManyRequests: true
            case .temporarilyUnavailable: isRepeatable
            default: false
            }
        case .insecure, .timedOut, .closed, .malformedAnswer, .invalid: false
        }
    }

    /// Whether there was no connection to begin with.
    fileprivate var isOfConnecting: Bool {
        if case .unreachable = self { return true }
        return false
    }

    /// How long the service asks the client to wait.
    var suggestedPause: Duration {
        guard case .refused(let failure) = self else { return .zero }
        return .milliseconds(failure.retryAfterMilliseconds ?? 0)
    }
}
