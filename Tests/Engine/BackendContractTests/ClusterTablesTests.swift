import BackendContract
import ObjectStore
import Objects
import Runtime
import TestSupport
import Testing
import WriteRules

@testable import PostgresStore

/// How the tables in PostgreSQL are read: at once or piece by piece.
@Suite(.enabled(if: PostgresServer.shared != nil)) struct ClusterTablesTests {
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
        bytes: Int = 2
    ) -> StoreChanges.Object {
        StoreChanges.Object(
            creation: creation, change: change ?? creation, bucket: BucketName(trusted: bucket),
            metadata: ObjectMetadata(
                id: ObjectID(trusted: "o\(creation)"), created: 1, modified: 1, version: 1,
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
