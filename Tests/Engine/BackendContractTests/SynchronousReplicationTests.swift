import BackendContract
import EmbeddedBackend
import JSONText
import Objects
import Runtime
import Synchronization
import TestSupport
import Testing

@testable import PostgresBackend

/// Nodes over a primary whose commits wait for a standby.
@Suite(.needsPostgreSQL, .serialized)
struct SynchronousReplicationTests {
    /// A primary and its standby.
    private struct Servers {
        let primary: PostgresServer
        let standby: PostgresServer

        init() throws {
            primary = try .start(settings: ["synchronous_standby_names=*"])
            standby = try .start(standbyOf: primary)
        }

        /// A node that turns to the standby when the primary is gone.
        func node(at folder: String) throws -> PostgresBackend {
            var opening = BackendKind.Opening(path: folder + "/node")
            opening.limits.failoverMilliseconds = Int(hangTime / .milliseconds(1))
            let address = try PostgresAddress(
                url: PostgresServer.url(of: [primary, standby]), schema: "geobucket")
            return try PostgresBackend(
                .init(address: address, cache: opening.path), limits: opening.limits,
                logger: opening.logger)
        }

        /// The sessions of the primary whose commits wait for the standby, after a function of each.
        func waiting(_ function: String = "") throws -> [Int64] {
            let clock = ServiceClock()
            let connection = try PostgresConnection(
                try PostgresAddress(url: primary.url, schema: "geobucket"), clock: clock)
            let rows = try connection.run(
                [
                    PostgresStatement(
                        """
                        SELECT pid::bigint, \(function)(pid) FROM pg_stat_activity
                        WHERE wait_event = 'SyncRep'
                        """)
                ], until: clock.deadline(after: hangTime))[0]
            return (0..<rows.count).map { rows.int($0, 0) }
        }
    }

    /// A write under way.
    private final class Put: Sendable {
        private let result = Mutex<Result<WriteAnswer, ServiceFailure>?>(nil)

        init(_ id: String, key: String? = nil, on backend: PostgresBackend) {
            let text = Array("{}".utf8)
            let object = PutObject(
                id: ObjectID(trusted: id), document: WrittenDocument(text: text, points: []))
            backend.submit(
                .put(bucket: BucketName(trusted: "shops"), object: object, condition: .none),
                key: key.map { RequestKey(text: $0, request: text) }, by: ""
            ) { answer in self.result.withLock { $0 = answer } }
        }

        var isAnswered: Bool { result.withLock { $0 != nil } }

        /// Whether it is answered with success, in time.
        func isDone() async throws -> Bool {
            guard try await waited(until: { isAnswered }) else { return false }
            return result.withLock { (try? $0?.get()) != nil }
        }
    }

    @Test(arguments: ["pg_terminate_backend", "pg_cancel_backend"])
    func `a write whose wait for the standby was ended is answered when a standby has it`(
        end: String
    ) async throws {
        try await withTemporaryFolder { folder in
            let servers = try Servers()
            let node = try servers.node(at: folder)
            defer { try? node.close() }
            #expect(try await Put("kept", on: node).isDone())
            try servers.standby.stop()
            let put = Put("waiting", on: node)
            var first: [Int64] = []
            #expect(
                try await waited {
                    first = try servers.waiting()
                    return !first.isEmpty
                })
            _ = try servers.waiting(end)
            // The look for what has become of it waits too.
            #expect(
                try await waited {
                    let waits = try servers.waiting().contains { !first.contains($0) }
                    return waits || put.isAnswered
                })
            #expect(!put.isAnswered)
            try servers.primary.stop()
            try servers.standby.start()
            try servers.standby.promote()
            #expect(try await put.isDone())
            for id in ["kept", "waiting"] {
                var writer = JSONWriter()
                try node.get(ObjectID(trusted: id), in: BucketName(trusted: "shops"), into: &writer)
            }
            withExtendedLifetime(servers) {}
        }
    }

    @Test func `a repeated write is answered when a standby has what was done before`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let servers = try Servers()
            let node = try servers.node(at: folder)
            defer { try? node.close() }
            #expect(try await Put("once", key: "k", on: node).isDone())
            try servers.standby.stop()
            let put = Put("once", key: "k", on: node)
            #expect(try await waited { try !servers.waiting().isEmpty || put.isAnswered })
            #expect(!put.isAnswered)
            try servers.standby.start()
            #expect(try await put.isDone())
            withExtendedLifetime(servers) {}
        }
    }
}
