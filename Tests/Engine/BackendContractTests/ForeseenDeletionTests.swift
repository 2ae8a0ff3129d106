import BackendContract
import InMemoryEngine
import JSONText
import Objects
import QueryLanguage
import Runtime
import TestSupport
import Testing

@testable import EmbeddedBackend
@testable import PostgresBackend

/// Large deletions of another store, of which this one knows the clause before they are done.
@Suite struct ForeseenDeletionTests {
    private static let bucket = BucketName(trusted: "items")
    private static let clause = Clause.eq(FieldPath("k"), .number(.integer(1)))

    private static func open(_ path: String) throws -> (SQLiteBackend, DirectClient) {
        let opening = BackendKind.Opening(path: path)
        let backend = try SQLiteBackend(
            path: path, limits: Limits(), logger: opening.logger, tuning: MassDeletionTests.tuning)
        return (backend, DirectClient(backend: backend, limits: Limits()))
    }

    private static func ids(_ client: DirectClient, k: Int? = nil) async throws -> Set<String> {
        let found = try await client.value("bucket.query", #"{"bucket":"items"}"#)
        return Set(
            found["results"]?.array?.filter { k == nil || $0["k"]?.int == k }
                .compactMap { $0["_id"]?.string } ?? [])
    }

    /// Returns when the bucket without the objects has been made.
    private static func foresee(_ backend: SQLiteBackend) async throws {
        backend.foresee(deletionOf: clause, in: bucket)
        let isMade = try await waited {
            backend.writer.searches.isIdle && backend.writer.foreseen.withLock { !$0.isEmpty }
        }
        #expect(isMade)
    }

    /// Has the backend take over that objects were deleted elsewhere.
    ///
    /// - Parameter unseen: how many of the objects have never been here, behind the others.
    private static func follow(
        _ backend: SQLiteBackend, deletionOf creations: [ChangeNumber], unseen: Int = 0,
        named names: [ChangeNumber: String] = [:]
    ) throws {
        let change = backend.engine.change
        let strangers = (0..<unseen).map { change + 1 + ChangeNumber($0) }
        let first = change + 1 + ChangeNumber(unseen)
        let deletion = ListedDeletion(
            creations + strangers, in: bucket, from: first, at: wallMilliseconds())
        var changes = StoreChanges(after: deletion.lastChange)
        changes.deletions = [deletion]
        changes.tombstones = deletion.creations.indices.filter {
            $0 >= creations.count || names[creations[$0]] != nil
        }.map { position in
            let creation = deletion.creations[position]
            return StoreChanges.Tombstone(
                change: deletion.change(ofObject: position), creation: creation, bucket: bucket,
                id: ObjectID(trusted: names[creation] ?? "stranger\(creation)"),
                deleted: deletion.deleted)
        }
        try backend.follow(
            SharedChanges(to: SharedState(change: changes.change, mark: [1]), by: changes))
    }

    /// The changes that created the present objects, by id.
    private static func creations(_ backend: SQLiteBackend) throws -> [String: ChangeNumber] {
        try backend.store.scan { scan in
            var found: [String: ChangeNumber] = [:]
            try scan.forEachRow { _, row, _ in
                found[row.metadata.id.text] = row.creation
                return true
            }
            return found
        }
    }

    @Test func `a deletion that comes as it was foreseen is put in place`() async throws {
        try await withTemporaryFolder { folder in
            let (backend, client) = try Self.open(folder + "/store.sqlite")
            try await MassDeletionTests.put(0..<100, k: { $0 % 2 }, on: client)
            try await Self.foresee(backend)
            let creations = try Self.creations(backend)
            let odd = try await Self.ids(client, k: 1)
            let before = backend.engine.change
            try Self.follow(backend, deletionOf: odd.map { creations[$0]! }.sorted(), unseen: 3)
            #expect(backend.writer.foreseen.withLock { $0.isEmpty })
            #expect(try await Self.ids(client).count == 50)
            #expect(try backend.check(until: nil).problems == [])
            // Each deletion is remembered with its id, of whatever came and went elsewhere too.
            for _ in 0..<2 {
                let deletions = try backend.store.deletions(
                    in: Self.bucket, after: before, atMost: 1_000)
                #expect(deletions?.count == 53)
                #expect(deletions?.filter { $0.id.text.hasPrefix("stranger") }.count == 3)
                backend.settle()
            }
            try backend.close()
            #expect(try StoreCheck.run(path: folder + "/store.sqlite").problems == [])
        }
    }

    /// Between the message and the deletion objects come, go and change; and the deletion may be of
    /// others than those that were foreseen.
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `a deletion that differs from what was foreseen deletes what it says`(
        seed: UInt64
    ) async throws {
        try await withTemporaryFolder { folder in
            var random = SplitMix64(seed: seed)
            let (backend, client) = try Self.open(folder + "/store.sqlite")
            try await MassDeletionTests.put(0..<60, k: { $0 % 3 == 0 ? 0 : 1 }, on: client)
            try await Self.foresee(backend)
            for _ in 0..<random.below(12) {
                let id = "o\(random.below(70))"
                if random.below(3) == 0 {
                    _ = try? await client.call(
                        "object.delete", #"{"bucket":"items","id":"\#(id)"}"#)
                } else {
                    try await client.value(
                        "object.put",
                        #"{"bucket":"items","id":"\#(id)","object":{"k":\#(random.below(2))}}"#)
                }
            }
            if random.below(6) == 0 {
                try await client.value("bucket.delete", #"{"bucket":"items"}"#)
            }
            try await MassDeletionTests.put(70..<72, k: { _ in 1 }, on: client)
            let creations = try Self.creations(backend)
            var doomed = try await Self.ids(client, k: 1)
            for _ in 0..<random.below(4) {
                if let other = creations.keys.sorted().randomElement(using: &random) {
                    if doomed.remove(other) == nil { doomed.insert(other) }
                }
            }
            guard !doomed.isEmpty else { return try backend.close() }
            let left = Set(creations.keys).subtracting(doomed)
            // Of some the tombstone is there too.
            let named = doomed.filter { _ in random.below(4) == 0 }
            try Self.follow(
                backend, deletionOf: doomed.map { creations[$0]! }.sorted(),
                unseen: random.below(3),
                named: Dictionary(uniqueKeysWithValues: named.map { (creations[$0]!, $0) }))
            #expect(try await Self.ids(client) == left, "seed \(seed)")
            #expect(try backend.check(until: nil).problems == [], "seed \(seed)")
            // The ids are free, and the bucket takes writes.
            try await MassDeletionTests.put(0..<10, k: { _ in 2 }, on: client)
            backend.settle()
            #expect(
                try await Self.ids(client) == left.union((0..<10).map { "o\($0)" }), "seed \(seed)")
            #expect(try backend.check(until: nil).problems == [], "seed \(seed)")
            try backend.close()
            #expect(try StoreCheck.run(path: folder + "/store.sqlite").problems == [])
        }
    }

    @Test func `a bucket that is gone when its deletion comes is nothing to delete from`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let (backend, client) = try Self.open(folder + "/store.sqlite")
            try await MassDeletionTests.put(0..<50, k: { _ in 1 }, on: client)
            try await Self.foresee(backend)
            let creations = try Self.creations(backend).values.sorted()
            try await client.value("bucket.delete", #"{"bucket":"items"}"#)
            try Self.follow(backend, deletionOf: creations)
            #expect(try await Self.ids(client).isEmpty)
            backend.settle()
            #expect(try backend.check(until: nil).problems == [])
            try backend.close()
        }
    }

    @Test func `a bucket that waited in vain is renumbered`() async throws {
        try await withTemporaryFolder { folder in
            let (backend, client) = try Self.open(folder + "/store.sqlite")
            try await MassDeletionTests.put(0..<600, k: { $0 % 2 }, on: client)
            try await Self.foresee(backend)
            let full = backend.statistics().memory.records
            for number in 0..<350 {
                try await client.value(
                    "object.delete", #"{"bucket":"items","id":"o\#(number)"}"#)
            }
            // Nothing has been renumbered yet.
            #expect(backend.statistics().memory.records >= full)
            var changes = StoreChanges(after: backend.engine.change)
            changes.deletions = [ListedDeletion([1], in: Self.bucket, from: 1, at: 1)]
            let late = changes
            backend.writer.thread.sync { backend.writer.dropForeseen(late) }
            #expect(
                try await waited { backend.statistics().memory.records < full * 3 / 4 })
            #expect(try backend.check(until: nil).problems == [])
            try backend.close()
        }
    }

    // MARK: Messages

    @Test(arguments: [
        Clause.all, clause,
        .and([
            .prefix(FieldPath("name"), Array("é\"\\".utf8)), .not(.hasField(FieldPath("x"), nil)),
        ]),
    ])
    func `a message tells the clause, the bucket and the sender`(clause: Clause) throws {
        let bucket = BucketName(trusted: "users/alice/items")
        let text = try #require(DeletionMessage(by: "a1", of: clause, in: bucket).text)
        let read = try #require(DeletionMessage(text, limits: Limits()))
        #expect(read.sender == "a1" && read.bucket == bucket)
        #expect(read.clause.json == clause.json)
    }

    @Test(arguments: [
        "", "7", "{}", "nonsense", #"{"sender":"a","bucket":"b","clause":{"type":"?"}}"#,
    ])
    func `anything else is no message`(text: String) {
        #expect(DeletionMessage(text, limits: Limits()) == nil)
    }

    @Test(arguments: [0, 1])
    func `a clause that is too long for a message is not announced`(beyond: Int) {
        func text(_ length: Int) -> String? {
            DeletionMessage(
                by: "a", of: .prefix(FieldPath("k"), Array(repeating: 0x78, count: length)),
                in: Self.bucket
            ).text
        }
        let frame = text(0)!.utf8.count
        #expect((text(7_999 - frame + beyond) == nil) == (beyond > 0))
    }
}
