import BackendContract
import EmbeddedBackend
import GeoBucketClient
import InMemoryEngine
import JSONText
import Logging
import Objects
import QueryServer
import Runtime
import ServiceDesk
import Synchronization
import WebServer

/// A service in this process, on a store of its own and a free port.
///
///     try await TestService.with { service in
///         let answer = try await service.call("server.ping")
///     }
public struct TestService: Sendable {
    public let backend: any TestedBackend
    public let port: Int
    /// The port for HTTP; 0 without one.
    public let webPort: Int
    public let connection: LineConnection

    /// Starts a service, connects to it, runs `body`, stops it.
    ///
    /// - Parameters:
    ///   - kind: what it serves from.
    ///   - path: the store; nil takes a fresh one that is removed afterwards.
    ///   - access: who may log in; nil asks nobody.
    ///   - everybody: what may be read without a login where there are logins.
    ///   - tls: the service's certificate, and how the connection checks it.
    ///   - web: the service is served over HTTP too, on a free port.
    ///   - proxies: who says for which clients it connects; not this machine's 127.0.0.1.
    ///   - monotonic: the clock of rates, connections and watches, in nanoseconds; nil is the system's.
    ///   - tuning: of the engine and its writer.
    ///   - log: takes what is logged.
    ///   - now: the service's clock, milliseconds since 1970.
    public static func with<Result: Sendable>(
        on kind: BackendKind = .usual, path: String? = nil, limits: Limits = Limits(),
        access: AccessControl? = nil, everybody: PublicBuckets? = nil,
        tls: (server: TLSIdentity, client: ClientTLS)? = nil,
        web: WebPort.Settings? = nil, proxies: TrustedProxies = .init(),
        monotonic: TestClock? = nil,
        tuning: Engine.Tuning = Engine.Tuning(), log: LogLines = LogLines(),
        now: @escaping @Sendable () -> Int64 = wallMilliseconds,
        _ body: @escaping @Sendable (TestService) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryFolder { folder in
            let logger = log.logger
            var opening = BackendKind.Opening(path: path ?? folder + "/store.sqlite")
            (opening.limits, opening.logger) = (limits, logger)
            opening.tuning = tuning
            opening.clock.milliseconds = now
            let backend = try kind.open(opening)
            defer { try? backend.close() }
            var clock = ServiceClock(milliseconds: now)
            if let monotonic { clock.nanoseconds = { monotonic.now } }
            let service = QueryService(
                backend: backend, limits: limits, access: access, everybody: everybody,
                clock: clock,
                logger: logger)
            let (ports, continuation) = AsyncStream<Int>.makeStream()
            return try await Workers.with(limits) { workers in
                let server = LineServer(
                    service: service, host: "127.0.0.1", port: 0, drainTime: .seconds(5),
                    tls: tls?.server, proxies: proxies, workers: workers, logger: logger
                ) { _, port in continuation.yield(port) }
                let (webPorts, webContinuation) = AsyncStream<Int>.makeStream()
                return try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await server.run() }
                    var iterator = ports.makeAsyncIterator()
                    let port = await iterator.next()!
                    var webPort = 0
                    if let web {
                        let server = WebPort(
                            service: service, workers: workers, settings: web, tls: tls?.server,
                            proxies: proxies, logger: logger
                        ) { _, port in webContinuation.yield(port) }
                        group.addTask { try await server.run() }
                        var iterator = webPorts.makeAsyncIterator()
                        webPort = await iterator.next()!
                    }
                    let ports = (port, webPort)
                    let result = try await LineConnection.with(
                        host: "127.0.0.1", port: port, tls: tls?.client
                    ) {
                        try await body(
                            TestService(
                                backend: backend, port: ports.0, webPort: ports.1, connection: $0))
                    }
                    group.cancelAll()
                    try await group.waitForAll()
                    return result
                }
            }
        }
    }

    /// As `with(on:path:limits:now:_:)`, by a clock that the test sets.
    public static func with<Result: Sendable>(
        on kind: BackendKind = .usual, path: String? = nil, limits: Limits = Limits(),
        tuning: Engine.Tuning = Engine.Tuning(), log: LogLines = LogLines(),
        clock: TestClock, _ body: @escaping @Sendable (TestService) async throws -> Result
    ) async throws -> Result {
        let now: @Sendable () -> Int64 = { clock.now }
        return try await with(
            on: kind, path: path, limits: limits, tuning: tuning, log: log, now: now, body)
    }

    /// One call; the result, or the service's error thrown as `ClientFailure.refused`.
    @discardableResult
    public func call(_ method: String, _ params: String = "{}") async throws -> JSONValue {
        try JSONValue(parsing: try await connection.call(method, Array(params.utf8)))
    }

    /// One call; the result's JSON text as it came.
    public func text(_ method: String, _ params: String = "{}") async throws -> String {
        String(decoding: try await connection.call(method, Array(params.utf8)), as: UTF8.self)
    }

    /// How a call ended: `INVALID_INPUT_DATA bucketQuery.clause.radius`, or `accepted`.
    public func outcome(_ method: String, _ params: String) async throws -> String {
        guard let failure = try await error(method, params) else { return "accepted" }
        return failure.path.map { "\(failure.errorCode) \($0)" } ?? failure.errorCode
    }

    /// The error of a call that has to fail, or nil when it did not.
    public func error(_ method: String, _ params: String) async throws -> RemoteFailure? {
        do {
            _ = try await call(method, params)
            return nil
        } catch ClientFailure.refused(let failure) {
            return failure
        }
    }

    /// One line as it is; the answer line as it is.
    public func line(_ text: String) async throws -> String {
        String(decoding: try await connection.send(Array(text.utf8)), as: UTF8.self)
    }
}
