import BackendContract
import Foundation
import Objects
import PostgresBackend
import Runtime
import TestSupport
import Testing

/// The file in which a node keeps its copy: what does not continue what PostgreSQL has is made anew,
/// and what is not a cache is left alone.
@Suite(.needsPostgreSQL) struct NodeCacheTests {
    /// Calls `body` with a cache of three objects in two buckets, when its node has ended.
    private static func withCache(
        _ body: (_ configuration: PostgresBackend.Configuration, _ log: LogLines) throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/nodes"
            let pair = try NodePair(.init(path: path))
            let client = DirectClient(backend: pair, limits: Limits())
            for (bucket, id) in [("shops", "o1"), ("shops", "o2"), ("cafes", "o1")] {
                try await client.value(
                    "object.put", #"{"bucket":"\#(bucket)","id":"\#(id)","object":{}}"#)
            }
            try pair.close()
            var configuration = PostgresBackend.Configuration(
                address: try NodePair.address(of: path), cache: path + ".writing")
            configuration.tuning = .untimed
            try body(configuration, LogLines())
        }
    }

    private static func count(
        _ configuration: PostgresBackend.Configuration, _ log: LogLines
    ) throws -> (objects: Int, problems: [String]) {
        let node = try PostgresBackend(configuration, limits: Limits(), logger: log.logger)
        defer { try? node.close() }
        return (node.statistics().objects, try node.check(until: nil).problems)
    }

    @Test func `only its owner may read a cache`() async throws {
        try await Self.withCache { configuration, _ in
            let file = try FileManager.default.attributesOfItem(atPath: configuration.cache)
            #expect(file[.posixPermissions] as? Int == 0o600)
        }
    }

    private static func rebuilds(
        _ configuration: PostgresBackend.Configuration, _ log: LogLines
    ) throws -> Int? {
        let node = try PostgresBackend(configuration, limits: Limits(), logger: log.logger)
        defer { try? node.close() }
        return node.statistics().cluster?.rebuilds
    }

    @Test func `a start counts the copy that it throws away, and no other`() async throws {
        try await Self.withCache { configuration, log in
            #expect(try Self.rebuilds(configuration, log) == 0, "the copy goes on")
            var new = configuration
            new.cache += ".new"
            #expect(try Self.rebuilds(new, log) == 0, "there was no copy")
            let tables = try ClusterTables(
                configuration.address, answerTime: hangTime, clock: ServiceClock())
            try tables.endEpoch(try tables.head().epoch)
            for cache in [configuration, new] {
                #expect(try Self.rebuilds(cache, log) == 1, "it is of another history")
                #expect(try Self.rebuilds(cache, log) == 0, "it has been made anew")
            }
        }
    }

    enum Damage: CaseIterable {
        case text, empty, half, zeros
    }

    @Test(arguments: Damage.allCases)
    func `a damaged cache is made anew`(_ damage: Damage) async throws {
        try await Self.withCache { configuration, log in
            let url = URL(fileURLWithPath: configuration.cache)
            var bytes = try Data(contentsOf: url)
            switch damage {
            case .text: bytes = Data(String(repeating: "not a database\n", count: 1_000).utf8)
            case .empty: bytes = Data()
            case .half: bytes = bytes.prefix(bytes.count / 2)
            case .zeros: bytes.replaceSubrange(100..., with: Data(count: bytes.count - 100))
            }
            try bytes.write(to: url)
            let (objects, problems) = try Self.count(configuration, log)
            #expect(objects == 3 && problems == [])
            #expect(
                log.all(from: .notice).contains { $0.contains("the cache is made anew") }
                    || damage == .empty)
        }
    }

    @Test func `a database of another program in the place of the cache is left alone`()
        async throws
    {
        try await Self.withCache { configuration, log in
            var other = configuration
            other.cache += ".other"
            // The header's application id says whose a database is.
            let url = URL(fileURLWithPath: other.cache)
            var bytes = try Data(contentsOf: URL(fileURLWithPath: configuration.cache))
            bytes.replaceSubrange(68..<72, with: [1, 2, 3, 4])
            try bytes.write(to: url)
            #expect(throws: (any Error).self) { try Self.count(other, log) }
            #expect(try Data(contentsOf: url) == bytes)
        }
    }

    @Test func `a cache of a part is not taken for the whole`() async throws {
        try await Self.withCache { configuration, log in
            var shared = configuration
            shared.cache += ".shared"
            shared.copies = 1
            // Nobody has announced the node, so it holds nothing yet.
            try PostgresBackend(shared, limits: Limits(), logger: log.logger).close()
            shared.copies = 0
            let (objects, problems) = try Self.count(shared, log)
            #expect(objects == 3 && problems == [])
            #expect(log.all(from: .notice).contains { $0.contains("only some of the buckets") })
        }
    }

    @Test func `a backup is refused with the advice to use PostgreSQL's own`() async throws {
        try await Self.withCache { configuration, log in
            let node = try PostgresBackend(configuration, limits: Limits(), logger: log.logger)
            defer { try? node.close() }
            let failure = #expect(throws: ServiceFailure.self) { try node.backup() }
            #expect(failure?.reason == .notAllowed)
            #expect(failure?.message.contains("pg_dump") == true)
        }
    }

    @Test func `geometry without PostGIS is refused, and nothing is made`() async throws {
        try await Self.withCache { configuration, log in
            var geometric = configuration
            geometric.keepsGeometry = true
            do {
                _ = try Self.count(geometric, log)
                // The server has PostGIS.
            } catch {
                #expect("\(error)".contains("CREATE EXTENSION postgis"))
                let found = try Self.count(configuration, log)
                #expect(found.objects == 3)
            }
        }
    }
}
