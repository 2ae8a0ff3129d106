import BackendContract
import EmbeddedBackend
import Objects
import Runtime
import TestSupport
import Testing

@testable import PostgresBackend

/// How deletions of many objects are written to the tables in PostgreSQL, and read from them before,
/// while and after their rows are removed.
@Suite struct ListedDeletionTests {
    private static let shops = BucketName(trusted: "shops")

    private static func list(
        _ creations: [ChangeNumber], from change: ChangeNumber, at deleted: Int64 = 1
    ) -> ListedDeletion {
        ListedDeletion(creations, in: shops, from: change, at: deleted)
    }

    private static func tombstone(
        _ change: ChangeNumber, of creation: ChangeNumber, at deleted: Int64 = 1
    ) -> StoreChanges.Tombstone {
        StoreChanges.Tombstone(
            change: change, creation: creation, bucket: shops,
            id: ObjectID(trusted: "o\(creation)"), deleted: deleted)
    }

    /// Every deletion of the lists: the changes of deletion and creation.
    private static func all(_ lists: [ListedDeletion]) -> [[ChangeNumber]] {
        lists.flatMap { list in
            list.creations.indices.map { [list.change(ofObject: $0), list.creations[$0]] }
        }
    }

    // MARK: Joining

    @Test func `neighbours of one time are one list`() {
        var changes = StoreChanges(after: 40)
        changes.deletions = [Self.list([3, 5], from: 21), Self.list([9], from: 24)]
        changes.tombstones = [
            // Before, within, between and behind the lists.
            Self.tombstone(20, of: 1), Self.tombstone(22, of: 5), Self.tombstone(23, of: 7),
            Self.tombstone(25, of: 10),
            // Of another time, and not in the order of creation.
            Self.tombstone(26, of: 11, at: 2), Self.tombstone(27, of: 8, at: 2),
            Self.tombstone(29, of: 12, at: 2), Self.tombstone(30, of: 13, at: 2),
        ]
        let joined = changes.joiningDeletions(longerThan: 1)
        #expect(
            Self.all(joined.deletions) == [
                [20, 1], [21, 3], [22, 5], [23, 7], [24, 9], [25, 10], [29, 12], [30, 13],
            ])
        #expect(joined.deletions.count == 2)
        #expect(joined.tombstones.count == changes.tombstones.count)
        #expect(changes.joiningDeletions(longerThan: 2).deletions.count == 1)
    }

    /// Deletions at random, of which each part is a list, tombstones, or both.
    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `whatever has become of its parts, a large deletion is joined`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var changes = StoreChanges(after: 0)
        var expected: [[ChangeNumber]] = []
        var (change, creation): (ChangeNumber, ChangeNumber) = (1_000, 0)
        for deletion in 0..<3 {
            change += ChangeNumber(random.below(3))
            creation = ChangeNumber(random.below(9))
            for _ in 0..<1 + random.below(4) {
                let creations = (0..<1 + random.below(5)).map { _ in
                    creation += 1 + ChangeNumber(random.below(3))
                    return creation
                }
                let part = Self.list(creations, from: change, at: Int64(deletion))
                let isListed = random.below(2) == 0
                if isListed { changes.deletions.append(part) }
                for position in creations.indices where !isListed || random.below(3) == 0 {
                    changes.tombstones.append(
                        Self.tombstone(
                            part.change(ofObject: position), of: creations[position],
                            at: Int64(deletion)))
                }
                expected += Self.all([part])
                change += ChangeNumber(creations.count)
            }
        }
        let joined = changes.joiningDeletions(longerThan: 0)
        #expect(Self.all(joined.deletions) == expected, "seed \(seed)")
        #expect(joined.deletions.count <= 3, "seed \(seed)")
    }

    // MARK: Tables

    private static func withTables(_ body: (ClusterTables) throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try body(
                ClusterTables(
                    try NodePair.address(of: folder + "/tables"), answerTime: hangTime,
                    clock: ServiceClock()))
        }
    }

    private static func object(_ creation: ChangeNumber, named id: String) -> StoreChanges.Object {
        StoreChanges.Object(
            creation: creation, change: creation, bucket: shops,
            metadata: ObjectMetadata(
                id: ObjectID(trusted: id), created: 1, modified: 1, version: 1, owner: nil,
                dataType: nil, expires: nil),
            points: [], text: Array("{}".utf8))
    }

    private static func commit(
        to change: ChangeNumber, _ tables: ClusterTables, _ note: (inout StoreChanges) -> Void
    ) throws {
        let transaction = try ClusterTransaction(
            tables, after: try tables.head().change, nil, keys: [])
        var changes = StoreChanges(after: change)
        note(&changes)
        try transaction.commit(changes, as: .random())
    }

    private static func count(_ table: String, _ tables: ClusterTables) throws -> Int64 {
        try tables.run([PostgresStatement("SELECT count(*) FROM \(table)")])[0].int(0, 0)
    }

    private static var all: ChangeFilter {
        ChangeFilter(isWanted: { _, _ in true }, passed: { _ in })
    }

    /// Three lists, of which one after the other becomes tombstones.
    @Test(.needsPostgreSQL)
    func `a tail has the same deletion, however many of its rows are removed`() async throws {
        try await Self.withTables { tables in
            let count = ChangeNumber(2 * ClusterTables.objectsPerList + 10)
            let (known, first) = (count / 2, count + 1)
            try Self.commit(to: known, tables) { changes in
                changes.buckets = [StoreChanges.Bucket(name: Self.shops, change: 1)]
                changes.objects = (1...known).map { Self.object($0, named: "o\($0)") }
            }
            try Self.commit(to: count, tables) { changes in
                changes.objects = (known + 1...count).map { Self.object($0, named: "o\($0)") }
            }
            let deletion = Self.list(Array(1...count), from: first)
            try Self.commit(to: deletion.lastChange, tables) { changes in
                changes.deletions = [deletion]
            }
            for removed in 0...3 {
                #expect(
                    try Self.count("deletion", tables) == Int64(3 - removed), "\(removed) removed")
                for filter in [nil, Self.all] {
                    let whole = try tables.wholeTail(after: known, nil, filter)
                    let bytes = ClusterTables.bytesAtOnce
                    let locked = try ClusterTransaction(
                        tables, after: known, nil, keys: [], filter, atMost: bytes)
                    for tail in [whole, locked.tail] {
                        let changes = tail.changes.joiningDeletions(longerThan: 0)
                        #expect(Self.all(changes.deletions) == Self.all([deletion]))
                        #expect(changes.objects.isEmpty && !tail.isTooLong)
                        // What has come and gone is known by its id.
                        let unseen = changes.tombstones.filter { $0.creation > known }
                        #expect(
                            unseen.map(\.id.text) == (known + 1...count).map { "o\($0)" },
                            "\(removed) removed")
                    }
                }
                #expect(try tables.removeListedRows() == (removed < 3))
            }
            #expect(try Self.count("object", tables) == 0)
            #expect(try Self.count("tombstone", tables) == Int64(count))
        }
    }

    @Test(.needsPostgreSQL, arguments: [-1, 0, 1])
    func `lists are read under the lock up to a number of objects`(beyond: Int) async throws {
        try await Self.withTables { tables in
            let most = 40
            let count = ChangeNumber(most + beyond)
            let deletion = Self.list(Array(1...count), from: count + 1)
            try Self.commit(to: deletion.lastChange, tables) { changes in
                changes.deletions = [deletion]
            }
            for filter in [nil, Self.all] {
                let tail = try ClusterTransaction(
                    tables, after: count, nil, keys: [], filter,
                    atMost: most * ClusterTables.bytesPerListed
                ).tail
                #expect(tail.isTooLong == (beyond > 0))
                #expect(tail.changes.deletions.isEmpty == (beyond > 0))
                // Outside of the lock they are read piece by piece, in any case.
                let whole = try tables.wholeTail(after: count, nil, filter)
                #expect(whole.changes.deletions.count == 1)
            }
            let own = try ClusterTransaction(
                tables, after: deletion.lastChange, nil, keys: [],
                atMost: ClusterTables.bytesPerListed)
            #expect(!own.tail.isTooLong)
        }
    }

    @Test(.needsPostgreSQL)
    func `ids of listed objects are free, also in the transaction that lists them`() async throws {
        try await Self.withTables { tables in
            let per = ChangeNumber(ClusterTables.objectsPerList)
            let count = 2 * per
            try Self.commit(to: count, tables) { changes in
                changes.buckets = [StoreChanges.Bucket(name: Self.shops, change: 1)]
                changes.objects = (1...count).map { Self.object($0, named: "o\($0)") }
            }
            // Every other object; those that stay are not touched.
            let listed = Array(stride(from: 2, through: count, by: 2))
            let deletion = Self.list(listed, from: count + 1)
            let next = deletion.lastChange + 1
            try Self.commit(to: next, tables) { changes in
                changes.deletions = [deletion]
                changes.objects = [Self.object(next, named: "o2")]
            }
            try Self.commit(to: next + 2, tables) { changes in
                changes.objects = [
                    Self.object(next + 1, named: "o\(count)"),
                    Self.object(next + 2, named: "new"),
                ]
            }
            let ids = try tables.run([
                PostgresStatement("SELECT change, creation, id FROM tombstone ORDER BY change")
            ])[0]
            #expect(
                (0..<ids.count).map { [ids.int($0, 0), ids.int($0, 1)] } == [
                    [Int64(count + 1), 2], [Int64(deletion.lastChange), Int64(count)],
                ])
            #expect(throws: PostgresFailure.self, "o1 is there") {
                try Self.commit(to: next + 3, tables) { changes in
                    changes.objects = [Self.object(next + 3, named: "o1")]
                }
            }
            while try tables.removeListedRows() {}
            #expect(try Self.count("object", tables) == Int64(per) + 3)
            #expect(try Self.count("tombstone", tables) == Int64(per))
            #expect(try tables.digests()[Self.shops]?.count == Int(per) + 3)
        }
    }

    @Test(.needsPostgreSQL)
    func `tombstones that lists become are forgotten in time`() async throws {
        try await Self.withTables { tables in
            let deletion = Self.list([1, 2, 3], from: 4)
            try Self.commit(to: 3, tables) { changes in
                changes.buckets = [StoreChanges.Bucket(name: Self.shops, change: 1)]
                changes.objects = (1...3).map { Self.object($0, named: "o\($0)") }
            }
            try Self.commit(to: 6, tables) { changes in changes.deletions = [deletion] }
            try Self.commit(to: 7, tables) { changes in
                changes.tombstones = [Self.tombstone(7, of: 1_000)]
            }
            // A look before the rows are gone does not take later tombstones for the oldest.
            _ = try tables.forget(tombstonesBefore: 0, requestsBefore: 0, atMost: 10)
            while try tables.removeListedRows() {}
            _ = try tables.run([PostgresStatement("UPDATE batch SET at = at - interval '1 day'")])
            for _ in 0..<2 {
                _ = try tables.forget(tombstonesBefore: 2, requestsBefore: 0, atMost: 10)
            }
            #expect(try Self.count("tombstone", tables) == 0)
        }
    }
}
