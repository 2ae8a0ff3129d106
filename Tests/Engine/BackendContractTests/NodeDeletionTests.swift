import BackendContract
import EmbeddedBackend
import InMemoryEngine
import Objects
import Runtime
import TestSupport
import Testing

@testable import PostgresBackend

/// Deletions of so many objects at a node that a list of them comes first and their rows go later, in
/// PostgreSQL and at every node.
@Suite(.needsPostgreSQL) struct NodeDeletionTests {
    private struct Cluster {
        let pair: NodePair
        let a: DirectClient
        let b: DirectClient
        let opening: BackendKind.Opening
        private let connection: PostgresConnection

        init(_ path: String) throws {
            var opening = BackendKind.Opening(path: path)
            opening.tuning = MassDeletionTests.tuning
            opening.tuning.housekeeping = .milliseconds(10)
            self.opening = opening
            pair = try NodePair(opening)
            a = DirectClient(backend: pair, limits: Limits())
            b = DirectClient(backend: pair.reversed, limits: Limits())
            let (address, clock) = (try NodePair.address(of: path), ServiceClock())
            connection = try PostgresConnection(address, clock: clock)
            try ClusterSchema.selectSchema(
                connection, address.schema, until: clock.deadline(after: hangTime))
        }

        @discardableResult
        func run(_ statement: String) throws -> PostgresRows {
            try connection.run(
                [PostgresStatement(statement)], until: connection.clock.deadline(after: hangTime))[
                    0]
        }

        func count(_ table: String) throws -> Int64 {
            try run("SELECT count(*) FROM \(table)").int(0, 0)
        }

        /// Makes every removal of rows that lists have left fail.
        func keepRows() throws {
            try run("CREATE RULE kept AS ON DELETE TO deletion DO INSTEAD NOTHING")
        }

        /// Lets them succeed, and returns when all rows are gone.
        func letRowsGo() async throws {
            try run("DROP RULE kept ON deletion")
            #expect(try await waited { try count("deletion") == 0 })
        }

        func check() throws { #expect(try pair.check(until: nil).problems == []) }

        /// What a node answers that copies the tables now.
        func freshIDs(_ name: String) async throws -> [String] {
            let node = try NodePair.node(name, opening)
            defer { try? node.close() }
            #expect(try node.check(until: nil).problems == [])
            return try await MassDeletionTests.ids(
                on: DirectClient(
                    backend: NodePair(writing: node, reading: node), limits: Limits()))
        }
    }

    private static func withCluster(_ body: (Cluster) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let cluster = try Cluster(folder + "/nodes")
            defer { try? cluster.pair.close() }
            try await body(cluster)
        }
    }

    @Test func `listed objects are gone for nodes, copies and checks, while their rows are there`()
        async throws
    {
        try await Self.withCluster { cluster in
            let (a, b) = (cluster.a, cluster.b)
            try await MassDeletionTests.put(0..<200, k: { $0 % 2 }, on: a)
            #expect(try await MassDeletionTests.ids(on: b).count == 200)
            try cluster.keepRows()
            #expect(try await MassDeletionTests.delete(k: 1, on: a) == 100)
            #expect(try cluster.count("object") == 200)
            #expect(try cluster.count("tombstone") == 0)
            let evens = MassDeletionTests.names(stride(from: 0, to: 200, by: 2))
            for client in [a, b] { #expect(try await MassDeletionTests.ids(on: client) == evens) }
            try cluster.check()
            #expect(try await cluster.freshIDs("fresh") == evens)
            // A node writes the same ids.
            try await MassDeletionTests.put(0..<10, k: { _ in 3 }, on: b)
            let left = Set(stride(from: 0, to: 200, by: 2)).union(0..<10).sorted()
            for client in [a, b] {
                #expect(
                    try await MassDeletionTests.ids(on: client) == MassDeletionTests.names(left))
                let one = try await client.value("object.get", #"{"bucket":"items","id":"o1"}"#)
                #expect(one["_version"]?.int == 1 && one["k"]?.int == 3)
            }
            #expect(try cluster.count("object") == 200)
            #expect(try cluster.count("tombstone") == 5)
            try cluster.check()
            // One node goes on from its cache, another one copies the tables.
            for name in ["fresh", "later"] {
                #expect(try await cluster.freshIDs(name) == MassDeletionTests.names(left))
            }
            // A file that the tables are copied into has everything, and what was deleted.
            let copied = try Migration.run(
                from: NodePair.address(of: cluster.opening.path),
                to: cluster.opening.path + ".copy", progress: { _ in })
            #expect(copied.objects == 105 && copied.tombstones == 100)
            try await cluster.letRowsGo()
            #expect(try cluster.count("object") == 105)
            #expect(try cluster.count("tombstone") == 100)
            try cluster.check()
            #expect(try await cluster.freshIDs("last") == MassDeletionTests.names(left))
        }
    }

    @Test func `a bucket whose rows are there is deleted, made and deleted again`() async throws {
        try await Self.withCluster { cluster in
            let (a, b) = (cluster.a, cluster.b)
            try cluster.keepRows()
            for round in 0..<3 {
                let (writer, other) = round == 1 ? (b, a) : (a, b)
                try await MassDeletionTests.put(0..<50, k: { _ in round }, on: writer)
                #expect(try await MassDeletionTests.ids(on: other).count == 50)
                let deleted = try await other.value("bucket.delete", #"{"bucket":"items"}"#)
                #expect(deleted["deleted"]?.int == 50)
                try await MassDeletionTests.put(10..<14, k: { _ in 9 }, on: writer)
                for client in [a, b] {
                    #expect(
                        try await MassDeletionTests.ids(on: client)
                            == MassDeletionTests.names(10..<14))
                }
                try cluster.check()
                #expect(
                    try await cluster.freshIDs("fresh\(round)") == MassDeletionTests.names(10..<14))
            }
            // Of the fifty objects of each round, and the last four.
            #expect(try cluster.count("object") == 154)
            try await cluster.letRowsGo()
            #expect(try cluster.count("object") == 4)
            try cluster.check()
        }
    }

    @Test func `a node that was away takes over a deletion of what it has and has not seen`()
        async throws
    {
        try await Self.withCluster { cluster in
            let a = cluster.a
            try await MassDeletionTests.put(0..<30, k: { _ in 1 }, on: a)
            #expect(try await cluster.freshIDs("away").count == 30)
            try await MassDeletionTests.put(30..<60, k: { _ in 1 }, on: a)
            try await MassDeletionTests.put(0..<5, k: { _ in 2 }, on: a)
            try cluster.keepRows()
            #expect(try await MassDeletionTests.delete(k: 1, on: a) == 55)
            try await MassDeletionTests.put(50..<52, k: { _ in 1 }, on: a)
            let left = MassDeletionTests.names(Array(0..<5) + [50, 51])
            #expect(try await cluster.freshIDs("away") == left)
            try await cluster.letRowsGo()
            #expect(try await cluster.freshIDs("away") == left)
            try cluster.check()
        }
    }

    @Test func `nodes that delete much all the time do not keep another from writing`()
        async throws
    {
        try await Self.withCluster { cluster in
            let (a, b) = (cluster.a, cluster.b)
            let isOver = StopSignal()
            let deleting = Task {
                var rounds = 0
                while !isOver.isStopped {
                    try await MassDeletionTests.put(0..<40, k: { _ in 1 }, on: a)
                    _ = try await MassDeletionTests.delete(k: 1, on: a)
                    rounds += 1
                }
                return rounds
            }
            for number in 0..<20 {
                try await b.value(
                    "object.put", #"{"bucket":"others","id":"o\#(number)","object":{}}"#)
            }
            isOver.stop()
            #expect(try await deleting.value > 0)
            try cluster.check()
        }
    }
}
