import BackendContract
import Geodesy
import Objects
import QueryLanguage
import TestSupport
import Testing

@testable import EmbeddedBackend

/// How long the writer's thread works at a time: every write waits for that.
@Suite(.serialized) struct WriterTurnTests {
    private static let bucket = BucketName(trusted: "many")
    /// The most processor time of a turn: 20 ms, and as much again because the library for SQLite is not
    /// optimized in tests.
    private static let most = Duration.milliseconds(40)

    private static func withBackend(
        clock: TestClock = TestClock(), _ body: (SQLiteBackend) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            var opening = BackendKind.Opening(path: folder + "/store.sqlite")
            opening.clock.milliseconds = { clock.now }
            opening.limits.queryMilliseconds = 600_000
            let backend = try SQLiteBackend(
                path: opening.path, durability: .none, limits: opening.limits,
                logger: opening.logger, clock: opening.clock)
            do {
                try await body(backend)
            } catch {
                try? backend.close()
                throw error
            }
            try backend.close()
        }
    }

    private static func put(
        _ count: Int, bytes: Int = 20, expires: Int64? = nil, on backend: SQLiteBackend
    ) async throws {
        let fill = String(repeating: "x", count: bytes)
        for first in stride(from: 0, to: count, by: 1_000) {
            let numbers = first..<min(first + 1_000, count)
            let objects = numbers.map { object($0, fill, expires: expires) }
            _ = try await backend.answer(to: .putMany(bucket: bucket, objects: objects))
        }
        backend.settle()
        _ = backend.writer.thread.takeLongestTurn()
    }

    private static func object(
        _ number: Int, _ fill: String, expires: Int64?
    ) -> PutObject {
        let place = Coordinate(
            latitude: Double(number % 180) - 90, longitude: Double(number % 360) - 180)
        return PutObject(
            id: ObjectID(trusted: "o\(number)"),
            document: WrittenDocument(
                text: Array("{\"k\":\(number % 2),\"fill\":\"\(fill)\"}".utf8),
                points: [FieldPoint(field: FieldPath("at"), coordinate: place)]),
            expires: expires)
    }

    private static func check(_ backend: SQLiteBackend, _ what: Comment) {
        backend.settle()
        let longest = backend.writer.thread.takeLongestTurn()
        #expect(longest < most, what)
    }

    private static func deleteAll(k: Int64) -> Write {
        .deleteWhere(bucket: bucket, clause: .eq(FieldPath("k"), .number(.integer(k))))
    }

    @Test func `deletions of any number of objects take short turns`() async throws {
        try await Self.withBackend { backend in
            try await Self.put(150_000, on: backend)
            let half = try await backend.answer(to: Self.deleteAll(k: 1))
            #expect(half.deleted == 75_000)
            Self.check(backend, "deleteWhere")
            let rest = try await backend.answer(to: .deleteBucket(Self.bucket))
            #expect(rest.deleted == 75_000)
            Self.check(backend, "bucket.delete")
            try await Self.put(4_000, on: backend)
            let some = try await backend.answer(to: Self.deleteAll(k: 0))
            #expect(some.deleted == 2_000)
            Self.check(backend, "deleteWhere of as many as go one by one")
        }
    }

    @Test func `a deletion of another store that was foreseen takes short turns`() async throws {
        try await Self.withBackend { backend in
            try await Self.put(150_000, on: backend)
            let clause = Clause.eq(FieldPath("k"), .number(.integer(1)))
            backend.foresee(deletionOf: clause, in: Self.bucket)
            let isMade = try await waited { backend.writer.foreseen.withLock { !$0.isEmpty } }
            #expect(isMade)
            // Each object was created by a change of its own; one more has never been here.
            let creations = Array(stride(from: 2, through: 150_000, by: 2)) + [150_001]
            let deletion = ListedDeletion(
                creations.map { ChangeNumber($0) }, in: Self.bucket, from: 150_002, at: 1)
            var changes = StoreChanges(after: deletion.lastChange)
            changes.deletions = [deletion]
            try backend.follow(
                SharedChanges(to: SharedState(change: changes.change, mark: [1]), by: changes))
            #expect(backend.engine.count(of: Self.bucket) == 75_000)
            Self.check(backend, "a deletion that another store has done")
        }
    }

    @Test func `deletions of large objects take short turns`() async throws {
        try await Self.withBackend { backend in
            for count in [64, 200] {
                try await Self.put(2 * count, bytes: 60_000, on: backend)
                let deleted = try await backend.answer(to: Self.deleteAll(k: 1))
                #expect(deleted.deleted == count)
                Self.check(backend, "\(count) large objects")
            }
        }
    }

    @Test func `a clause that takes long is not tried on the writer's thread`() async throws {
        try await Self.withBackend { backend in
            try await Self.put(2_000, bytes: 2_000, on: backend)
            let costly = Clause.or(
                (0..<300).map { .contains(FieldPath("fill"), .string("y\($0)")) })
            async let answer = backend.answer(
                to: .deleteWhere(bucket: Self.bucket, clause: costly))
            for number in 0..<200 {
                let object = PutObject(
                    id: ObjectID(trusted: "o\(number)"),
                    document: WrittenDocument(text: Array(#"{"k":7}"#.utf8), points: []))
                _ = try await backend.answer(
                    to: .put(bucket: Self.bucket, object: object, condition: .none))
            }
            let deleted = try await answer.deleted
            #expect(deleted == 0)
            Self.check(backend, "a costly clause")
        }
    }

    @Test(arguments: [(40_000, 20), (1_000, 60_000)])
    func `many objects that expire at once take short turns`(
        count: Int, bytes: Int
    ) async throws {
        let clock = TestClock(1_000)
        try await Self.withBackend(clock: clock) { backend in
            try await Self.put(count, bytes: bytes, expires: 2_000, on: backend)
            clock.advance(5_000)
            backend.writer.removeExpired()
            let areGone = try await waited { backend.statistics().objects == 0 }
            #expect(areGone)
            Self.check(backend, "expiry")
        }
    }
}

extension SQLiteBackend {
    fileprivate func answer(to write: Write) async throws -> WriteAnswer {
        try await withCheckedThrowingContinuation { continuation in
            submit(write) { continuation.resume(with: $0) }
        }
    }
}

extension WriteAnswer {
    fileprivate var deleted: Int? { if case .deleted(let count) = self { count } else { nil } }
}
