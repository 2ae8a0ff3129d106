import BackendContract
import EmbeddedBackend
import Objects
import Runtime
import TestSupport
import Testing

@testable import PostgresBackend

/// How the tables in PostgreSQL are read: at once or piece by piece, and by which plans.
@Suite(.needsPostgreSQL) struct ClusterTablesTests {
    private static func withTables(_ body: (ClusterTables) throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try body(
                ClusterTables(
                    try NodePair.address(of: folder + "/tables"), answerTime: hangTime,
                    clock: ServiceClock()))
        }
    }

    private static func object(
        _ creation: ChangeNumber, at change: ChangeNumber? = nil, in bucket: String = "shops",
        named id: String? = nil, bytes: Int = 2
    ) -> StoreChanges.Object {
        StoreChanges.Object(
            creation: creation, change: change ?? creation, bucket: BucketName(trusted: bucket),
            metadata: ObjectMetadata(
                id: ObjectID(trusted: id ?? "o\(creation)"), created: 1, modified: 1, version: 1,
                owner: nil, dataType: nil, expires: nil),
            points: [], text: Array(repeating: UInt8(ascii: " "), count: bytes))
    }

    private static func tombstone(_ change: ChangeNumber, of creation: ChangeNumber)
        -> StoreChanges.Tombstone
    {
        StoreChanges.Tombstone(
            change: change, creation: creation, bucket: BucketName(trusted: "shops"),
            id: ObjectID(trusted: "o\(creation)"), deleted: 1)
    }

    private static func list(
        _ creations: [ChangeNumber], from change: ChangeNumber
    ) -> ListedDeletion {
        ListedDeletion(creations, in: BucketName(trusted: "shops"), from: change, at: 1)
    }

    /// Commits changes, as some node does.
    private static func commit(
        to change: ChangeNumber, _ tables: ClusterTables,
        _ note: (ClusterTransaction, inout StoreChanges) throws -> Void
    ) throws {
        let head = try tables.head()
        let transaction = try ClusterTransaction(
            tables, after: head.change, nil, keys: ["k1", "k2"])
        var changes = StoreChanges(after: change)
        try note(transaction, &changes)
        try transaction.commit(changes, as: .random())
    }

    private static func bucket(_ name: String, _ change: ChangeNumber) -> StoreChanges.Bucket {
        StoreChanges.Bucket(name: BucketName(trusted: name), change: change)
    }

    private static var all: ChangeFilter {
        ChangeFilter(isWanted: { _, _ in true }, passed: { _ in })
    }

    // MARK: Plans

    /// Runs every statement that finds rows, on tables with hardly any.
    private static func runStatements(_ tables: ClusterTables) throws {
        let last = try tables.head().change
        try commit(to: last + 3, tables) { transaction, changes in
            changes.buckets = [bucket("passing", last + 1)]
            if last == 0 { changes.buckets.append(bucket("shops", 1)) }
            changes.objects = [object(last + 2), object(last + 3)]
            let request = RememberedRequest(time: 1, digest: [1], answer: [1])
            transaction.remember(request, key: "k1")
            _ = try transaction.request(key: "k3")
        }
        try commit(to: last + 6, tables) { transaction, changes in
            changes.objects = [object(last + 2, at: last + 4)]
            changes.tombstones = [tombstone(last + 5, of: last + 3)]
            changes.deletedBuckets = [
                StoreChanges.DeletedBucket(
                    name: BucketName(trusted: "passing"), change: last + 6)
            ]
            transaction.deleteRequests(until: 0, atMost: 1)
        }
        try commit(to: last + 8, tables) { _, changes in
            changes.objects = [object(last + 7), object(last + 8)]
        }
        try commit(to: last + 11, tables) { _, changes in
            changes.deletions = [list([last + 7, last + 8], from: last + 9)]
            changes.objects = [object(last + 11, named: "o\(last + 8)")]
        }
        _ = try tables.head(after: last, .random())
        for filter in [nil, all] {
            _ = try tables.tail(after: last, .random(), filter)
            _ = try tables.longTail(after: last, .random(), filter)
        }
        _ = try ClusterTransaction(tables, after: last, nil, keys: [])
        _ = try tables.isTail(after: last, longerThan: 1)
        #expect(try tables.removeListedRows())
        #expect(try !tables.removeListedRows())
        _ = try tables.forget(tombstonesBefore: 0, requestsBefore: 0, atMost: 1)
    }

    private static let grownTables = ["object", "tombstone", "batch", "request", "bucket"]

    /// The lines of a plan that read a whole table that may be large.
    private static func wholeReads(_ plan: [String]) -> [String] {
        plan.indices.filter { number in
            let line = plan[number]
            guard grownTables.contains(where: { line.contains(" on \($0) ") }) else { return false }
            if line.contains("Seq Scan") { return true }
            guard line.contains("Index Scan") || line.contains("Index Only Scan"),
                !line.contains("Bitmap")
            else { return false }
            let isBounded = number > 0 && plan[number - 1].contains("Limit")
            let hasCondition =
                number + 1 < plan.count && plan[number + 1].contains("Index Cond")
            return !isBounded && !hasCondition
        }.map { plan[$0] }
    }

    @Test func `a statement that was planned on empty tables finds rows by index when they grow`()
        async throws
    {
        try await Self.withTables { tables in
            // After five executions a plan is made that stays.
            for _ in 0..<7 { try Self.runStatements(tables) }
            _ = try tables.run(
                [
                    """
                    INSERT INTO object SELECT n, 1, 'p' || n, n, 1, 1, 1, NULL, NULL, NULL, '',
                        repeat('x', 200) FROM generate_series(1001, 50000) AS n
                    """,
                    """
                    INSERT INTO tombstone SELECT n, n, 'shops', 'p' || n, 1
                    FROM generate_series(50001, 70000) AS n
                    """,
                    """
                    INSERT INTO batch SELECT gen_random_uuid(), n
                    FROM generate_series(1001, 20000) AS n
                    """,
                    """
                    INSERT INTO request (key, time, digest, answer)
                    SELECT 'r' || n, 1, '', '' FROM generate_series(1, 20000) AS n
                    """,
                    """
                    INSERT INTO bucket (name, changed) SELECT 'b' || n, 1
                    FROM generate_series(1, 20000) AS n
                    """,
                    "SET plan_cache_mode = force_generic_plan",
                ].map { PostgresStatement($0) })
            let prepared = try tables.run([
                PostgresStatement(
                    """
                    SELECT name, statement, cardinality(parameter_types)::bigint
                    FROM pg_prepared_statements WHERE statement !~ 'pg_prepared|generate_series|change FROM head'
                        AND statement ~ '(FROM|JOIN|UPDATE) (object|tombstone|batch|request|bucket)'
                    """)
            ])[0]
            #expect(prepared.count > 15)
            for row in 0..<prepared.count {
                let nulls = Array(repeating: "NULL", count: Int(prepared.int(row, 2)))
                let arguments = nulls.isEmpty ? "" : "(\(nulls.joined(separator: ", ")))"
                let lines = try tables.run([
                    PostgresStatement("EXPLAIN EXECUTE \(prepared.text(row, 0))\(arguments)")
                ])[0]
                let plan = (0..<lines.count).map { lines.text($0, 0) }
                #expect(
                    Self.wholeReads(plan) == [], "\(prepared.text(row, 1))\n\(plan)")
                #expect(!plan.contains { $0.contains("JIT") }, "\(prepared.text(row, 1))")
            }
        }
    }

    // MARK: At once or piece by piece

    /// What nodes compare of objects.
    private static func summary(_ tail: ClusterTables.Tail) -> [[UInt64]] {
        tail.changes.objects.map { [$0.creation, $0.change, UInt64($0.text.count)] }
            + tail.changes.tombstones.map { [$0.creation, $0.change] }
    }

    @Test(arguments: [-1, 0, 1])
    func `changes are read at once up to a number of bytes`(beyond: Int) async throws {
        try await Self.withTables { tables in
            // A row counts 128 bytes besides its document and points.
            let bytes = ClusterTables.bytesAtOnce / 16 - 128
            let objects = (1...16).map {
                Self.object(ChangeNumber($0), bytes: bytes + ($0 == 7 ? beyond : 0))
            }
            try Self.commit(to: 16, tables) { _, changes in
                changes.buckets = [Self.bucket("shops", 1)]
                changes.objects = objects
            }
            let expected = objects.map { [$0.creation, $0.change, UInt64($0.text.count)] }
            for filter in [nil, Self.all] {
                let tail = try tables.tail(after: 0, nil, filter)
                #expect(tail.isTooLong == (beyond > 0) && tail.head.change == 16)
                #expect(Self.summary(tail) == (beyond > 0 ? [] : expected))
                let locked = try ClusterTransaction(tables, after: 0, nil, keys: [], filter).tail
                #expect(locked.isTooLong == (beyond > 0))
                let long = try tables.longTail(after: 0, nil, filter)
                let whole = try tables.wholeTail(after: 0, nil, filter)
                for tail in [long, whole] {
                    #expect(Self.summary(tail) == expected && !tail.isTooLong)
                    #expect(tail.changes.buckets.map(\.name.text) == ["shops"])
                    #expect(tail.batch != nil)
                }
            }
            let locked = try ClusterTransaction(
                tables, after: 0, nil, keys: [], atMost: ClusterTables.bytesAtOnce + 1)
            #expect(!locked.tail.isTooLong && Self.summary(locked.tail) == expected)
        }
    }

    @Test(arguments: [-1, 0, 1])
    func `deletions are read at once up to a number`(beyond: Int) async throws {
        try await Self.withTables { tables in
            let count = ChangeNumber(ClusterTables.bytesAtOnce / 128 + beyond)
            let tombstones = (1...count).map { Self.tombstone($0, of: $0 + count) }
            try Self.commit(to: count, tables) { _, changes in changes.tombstones = tombstones }
            let tail = try tables.tail(after: 0, nil)
            #expect(tail.isTooLong == (beyond > 0))
            let whole = try tables.wholeTail(after: 0, nil)
            #expect(Self.summary(whole) == tombstones.map { [$0.creation, $0.change] })
        }
    }

    @Test func `a tail read piece by piece has what is wanted, in the order of creation`()
        async throws
    {
        try await Self.withTables { tables in
            try Self.commit(to: 4, tables) { _, changes in
                changes.buckets = [Self.bucket("shops", 1), Self.bucket("cafes", 1)]
                changes.objects = [
                    Self.object(1), Self.object(2, in: "cafes"), Self.object(3), Self.object(4),
                ]
            }
            try Self.commit(to: 7, tables) { _, changes in
                changes.objects = [
                    Self.object(4, at: 5), Self.object(1, at: 6),
                    Self.object(2, at: 7, in: "cafes"),
                ]
            }
            let all = Self.summary(try tables.longTail(after: 4, nil))
            #expect(all == [[1, 6, 2], [2, 7, 2], [4, 5, 2]])
            var passed: [String] = []
            let filter = ChangeFilter(
                isWanted: { bucket, change in bucket.text == "shops" && change > 5 },
                passed: { passed.append($0.text) })
            #expect(Self.summary(try tables.longTail(after: 4, nil, filter)) == [[1, 6, 2]])
            #expect(passed == ["cafes"])
            let shops = [BucketName(trusted: "shops")]
            #expect(try tables.isTail(after: 4, longerThan: 2))
            #expect(try !tables.isTail(after: 4, longerThan: 3))
            #expect(try tables.isTail(after: 4, longerThan: 1, in: shops))
            #expect(try !tables.isTail(after: 4, longerThan: 2, in: shops))
            try Self.commit(to: 8, tables) { _, changes in
                changes.tombstones = [Self.tombstone(8, of: 3)]
            }
            #expect(try tables.isTail(after: 4, longerThan: 2, in: shops))
            #expect(try tables.isTail(after: 4, longerThan: 3))
        }
    }
}
