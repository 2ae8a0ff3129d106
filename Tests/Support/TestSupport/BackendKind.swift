import BackendContract
import EmbeddedBackend
import Foundation
import InMemoryEngine
import Logging
import Objects
import Runtime

/// A back end that tests open and close.
public protocol TestedBackend: Backend {
    /// Returns when everything submitted has been answered and nothing is being made beside it.
    func settle()

    func close() throws
}

extension SQLiteBackend: TestedBackend {}

extension Engine.Tuning {
    /// Which reads are costly does not depend on how fast the machine is.
    public static var untimed: Engine.Tuning {
        var tuning = Engine.Tuning()
        tuning.briefSearch = .seconds(3_600)
        // Small deletions go every way.
        tuning.deletedAtOnce = 5
        tuning.deletedInPlace = 10
        return tuning
    }
}

/// A kind of back end that the contract's tests run on: how one is opened, and how what it has left is
/// checked.
public struct BackendKind: Sendable, CustomStringConvertible {
    /// What a back end is opened with.
    public struct Opening: Sendable {
        /// The store, made where there is none; another path is another store.
        public var path: String
        public var limits = Limits()
        public var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        public var tuning = Engine.Tuning.untimed
        public var clock = ServiceClock()

        public init(path: String) { self.path = path }
    }

    public let description: String
    public let open: @Sendable (Opening) throws -> any TestedBackend
    /// Compares what is derived with what is stored at a path, while nobody serves it.
    public let check: @Sendable (_ path: String) throws -> CheckReport

    public static let embedded = BackendKind(
        description: "embedded",
        open: {
            try SQLiteBackend(
                path: $0.path, limits: $0.limits, logger: $0.logger, tuning: $0.tuning,
                clock: $0.clock)
        },
        check: { try StoreCheck.run(path: $0) })

    /// Two nodes over PostgreSQL: one writes, the other reads.
    public static let nodes = BackendKind(
        description: "nodes",
        open: { try NodePair($0) },
        check: { path in
            let pair = try NodePair(Opening(path: path))
            defer { try? pair.close() }
            return try pair.check(until: nil)
        })

    /// What a service of the tests serves from unless a test says otherwise: `nodes` if
    /// `GEOBUCKET_TEST_BACKEND` says so, so that the rules of the protocol can be tested on a cluster.
    public static let usual =
        ProcessInfo.processInfo.environment["GEOBUCKET_TEST_BACKEND"] == "nodes" ? nodes : embedded

    /// Whether the usual kind keeps everything in one file.
    public static var usualHasFile: Bool { usual.description == embedded.description }

    /// Every kind: all of them fulfil the contract. Where there is no PostgreSQL, what opens `nodes` is skipped.
    public static let all = [embedded, nodes]

    /// Skips the test where this kind cannot run.
    public func require() throws {
        if description == Self.nodes.description { _ = try PostgresServer.required() }
    }
}
