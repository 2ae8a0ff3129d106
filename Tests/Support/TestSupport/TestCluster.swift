import BackendContract
import Foundation
import GeoBucketClient
import JSONText
import Logging
import Objects
import PostgresBackend
import QueryServer
import ServiceDesk
import Synchronization
import WebServer

/// Nodes that share the buckets, each with a service on a free port, in this process.
///
///     try await TestCluster.with(nodes: 3, copies: 1) { cluster in
///         try await cluster.call(2, "bucket.count", #"{"bucket":"shops"}"#)
///     }
public final class TestCluster: Sendable {
    /// A node and what ends it.
    private struct Member: Sendable {
        let backend: PostgresBackend
        let port: Int
        let webPort: Int
        let running: Task<Void, any Error>
    }

    private let members = Mutex<[Int: Member]>([:])
    private let path: String
    private let copies: Int
    private let limits: Limits
    private let tls: TLS?

    /// What the nodes present, and how their clients check it.
    public typealias TLS = (server: TLSIdentity, client: ClientTLS)

    private init(path: String, copies: Int, limits: Limits, tls: TLS?) {
        self.path = path
        self.copies = copies
        self.limits = limits
        self.tls = tls
    }

    /// Limits with which a node is soon taken for dead.
    public static var impatient: Limits {
        var limits = Limits()
        limits.nodeTimeoutMilliseconds = 2_000
        return limits
    }

    /// Starts nodes, waits until all know each other, runs `body`, and ends them.
    public static func with(
        nodes: Int, copies: Int, limits: Limits = impatient, tls: TLS? = nil,
        _ body: @escaping @Sendable (TestCluster) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let cluster = TestCluster(
                path: folder + "/nodes", copies: copies, limits: limits, tls: tls)
            do {
                for number in 0..<nodes { try await cluster.start(number) }
                try await cluster.wait { $0.count == nodes && $0.allSatisfy { $0.nodes == nodes } }
                try await body(cluster)
            } catch {
                await cluster.endAll()
                throw error
            }
            await cluster.endAll()
        }
    }

    /// Starts a node, on its cache if it has one.
    ///
    /// - Parameter identity: its certificate, if it is not the one of all nodes.
    public func start(
        _ number: Int, reads: PostgresBackend.Reads = .latest, token: String = TestCluster.token,
        identity: TLSIdentity? = nil
    ) async throws {
        let identity = identity ?? tls?.server
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var configuration = PostgresBackend.Configuration(
            address: try NodePair.address(of: path), cache: "\(path).\(number)", reads: reads)
        configuration.copies = copies
        configuration.tuning = .untimed
        let backend = try PostgresBackend(configuration, limits: limits, logger: logger)
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let (webPorts, webContinuation) = AsyncStream<Int>.makeStream()
        let web = WebPort.Settings(host: "127.0.0.1", port: 0, hosts: .loopback)
        let service = QueryService(backend: backend, limits: limits)
        let running = Task { [limits] in
            try await Workers.with(limits) { workers in
                let server = LineServer(
                    service: service, host: "127.0.0.1", port: 0, drainTime: .seconds(1),
                    tls: identity, nodes: NodeSecret(token), workers: workers, logger: logger
                ) { _, port in continuation.yield(port) }
                let webServer = WebPort(
                    service: service, workers: workers, settings: web, tls: identity,
                    nodes: NodeSecret(token), logger: logger
                ) { _, port in webContinuation.yield(port) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await server.run() }
                    group.addTask { try await webServer.run() }
                    try await group.waitForAll()
                }
            }
        }
        var iterator = ports.makeAsyncIterator()
        let port = await iterator.next()!
        var webIterator = webPorts.makeAsyncIterator()
        let webPort = await webIterator.next()!
        backend.announce(client: "127.0.0.1:\(port)", peer: "127.0.0.1:\(port)")
        members.withLock {
            $0[number] = Member(backend: backend, port: port, webPort: webPort, running: running)
        }
    }

    /// By which the nodes know each other.
    public static let token = "the token of these tests"

    /// Ends a node.
    public func end(_ number: Int) async {
        guard let member = members.withLock({ $0.removeValue(forKey: number) }) else { return }
        member.running.cancel()
        _ = try? await member.running.value
        try? member.backend.close()
    }

    private func endAll() async {
        for number in members.withLock({ Array($0.keys) }) { await end(number) }
    }

    /// The backend of a node.
    public func backend(_ number: Int) -> PostgresBackend {
        members.withLock { $0[number]!.backend }
    }

    /// The path of a node's cache.
    public func cachePath(_ number: Int) -> String { "\(path).\(number)" }

    /// The port of a node.
    public func port(_ number: Int) -> Int { members.withLock { $0[number]!.port } }

    /// The port for HTTP of a node.
    public func webPort(_ number: Int) -> Int { members.withLock { $0[number]!.webPort } }

    /// One call at a node, on a connection of its own.
    @discardableResult
    public func call(
        _ number: Int, _ method: String, _ params: String = "{}"
    ) async throws -> JSONValue {
        try await LineConnection.with(
            host: "127.0.0.1", port: port(number), tls: tls?.client
        ) { connection in
            try JSONValue(parsing: try await connection.call(method, Array(params.utf8)))
        }
    }

    /// The error of one call at a node; nil if it succeeds.
    public func errorCode(
        _ number: Int, _ method: String, _ params: String = "{}"
    ) async throws -> String? {
        do {
            try await call(number, method, params)
            return nil
        } catch ClientFailure.refused(let failure) {
            return failure.errorCode
        }
    }

    /// Returns as soon as the nodes' shares satisfy a condition.
    public func wait(
        until condition: @Sendable ([ShareStatistics]) -> Bool
    ) async throws {
        let end = ContinuousClock.now + hangTime
        while true {
            let backends = members.withLock { $0.values.map(\.backend) }
            let shares = backends.compactMap { $0.statistics().cluster?.share }
            if shares.count == backends.count, condition(shares) { return }
            guard ContinuousClock.now < end else { throw NotReached(shares: shares) }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// What the nodes held when a test gave up waiting.
    public struct NotReached: Error {
        let shares: [ShareStatistics]
    }
}
