import BackendContract
import Foundation
import InMemoryEngine
import JSONText
import Objects
import QueryLanguage
import Synchronization
import TestSupport
import Testing

@testable import EmbeddedBackend

/// Deletions of so many objects that a list of them comes first and their rows go later.
@Suite struct MassDeletionTests {
    /// A deletion of five objects is large.
    static var tuning: Engine.Tuning {
        var tuning = Engine.Tuning.eager
        tuning.deletedAtOnce = 4
        tuning.deletedInPlace = 4
        tuning.objectsTakenOn = 3
        // One row a turn.
        tuning.turn = .nanoseconds(1)
        tuning.holes = 1
        return tuning
    }

    private static let bucket = BucketName(trusted: "items")

    @Test(arguments: BackendKind.all)
    func `a large deletion is there at once, and after a restart`(
        on kind: BackendKind
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try await withBackend(kind, path: path, tuning: Self.tuning) { client in
                try await Self.put(0..<200, k: { $0 % 2 }, on: client)
                #expect(try await Self.delete(k: 1, on: client) == 100)
                #expect(
                    try await Self.ids(on: client) == Self.names(stride(from: 0, to: 200, by: 2)))
                try Self.check(client.backend)
                // The same ids at once, some of whose rows are still there.
                try await Self.put(0..<10, k: { _ in 3 }, on: client)
                let one = try await client.value("object.get", #"{"bucket":"items","id":"o1"}"#)
                #expect(one["_version"]?.int == 1 && one["k"]?.int == 3)
            }
            try await withBackend(kind, path: path, tuning: Self.tuning) { client in
                let left = Set(stride(from: 0, to: 200, by: 2)).union(0..<10).sorted()
                #expect(try await Self.ids(on: client) == Self.names(left))
                #expect(try await Self.delete(k: 3, on: client) == 10)
                try Self.check(client.backend)
                client.backend.settle()
                try Self.check(client.backend)
            }
            #expect(try kind.check(path).problems == [])
        }
    }

    @Test(arguments: BackendKind.all)
    func `a large bucket is deleted and created again`(on kind: BackendKind) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try await withBackend(kind, path: path, tuning: Self.tuning) { client in
                for round in 0..<3 {
                    try await Self.put(0..<50, k: { _ in round }, on: client)
                    let deleted = try await client.value("bucket.delete", #"{"bucket":"items"}"#)
                    #expect(deleted["deleted"]?.int == 50)
                    try await Self.put(10..<14, k: { _ in 9 }, on: client)
                    #expect(try await Self.ids(on: client) == Self.names(10..<14))
                    try Self.check(client.backend)
                }
            }
            try await withBackend(kind, path: path, tuning: Self.tuning) { client in
                #expect(try await Self.ids(on: client) == Self.names(10..<14))
                client.backend.settle()
                try Self.check(client.backend)
            }
            #expect(try kind.check(path).problems == [])
        }
    }

    /// Copies of the files are what a crash at that moment would leave.
    @Test(arguments: [false, true])
    func `a crash after any step of a large deletion leaves all of it`(
        ofBucket: Bool
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            var opening = BackendKind.Opening(path: path)
            opening.tuning = Self.tuning
            let backend = try SQLiteBackend(
                path: path, limits: Limits(), logger: opening.logger, tuning: Self.tuning)
            let client = DirectClient(backend: backend, limits: Limits())
            try await Self.put(0..<40, k: { $0 % 2 }, on: client)
            let before = backend.engine.change
            let write: Write =
                ofBucket
                ? .deleteBucket(Self.bucket)
                : .deleteWhere(
                    bucket: Self.bucket, clause: .eq(FieldPath("k"), .number(.integer(1))))
            let copies = 8
            // The writer's thread calls the completion before it removes the first row.
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                @Sendable func goOn(_ number: Int) {
                    Self.copy(path, to: folder + "/copy\(number).sqlite")
                    guard number + 1 < copies else { return done.resume() }
                    // Behind the next turn of the removal.
                    backend.writer.betweenWrites { goOn(number + 1) }
                }
                backend.submit(write) { _ in goOn(0) }
            }
            let removed = (ofBucket ? 40 : 20)
            try backend.close()
            for number in 0..<copies {
                let copy = folder + "/copy\(number).sqlite"
                let reopened = try SQLiteBackend(
                    path: copy, limits: Limits(), logger: opening.logger, tuning: Self.tuning)
                let client = DirectClient(backend: reopened, limits: Limits())
                #expect(
                    try await Self.ids(on: client)
                        == Self.names(ofBucket ? [] : Array(stride(from: 0, to: 40, by: 2))))
                #expect(reopened.engine.change == before + ChangeNumber(removed))
                // The same deletions, whether their rows are there or not.
                for _ in 0..<2 {
                    let deletions = try reopened.store.deletions(
                        in: Self.bucket, after: before, atMost: 1_000)
                    #expect(
                        deletions?.map(\.change)
                            == Array(before + 1...before + ChangeNumber(removed)))
                    #expect(Set(deletions?.map(\.id.text) ?? []).count == removed)
                    let some = try reopened.store.deletions(
                        in: Self.bucket, after: before + 5, atMost: 3)
                    #expect(some?.map(\.change) == [before + 6, before + 7, before + 8])
                    try await Self.put(100..<102, k: { _ in 0 }, on: client)
                    try Self.check(reopened)
                    reopened.settle()
                }
                try reopened.close()
                #expect(try StoreCheck.run(path: copy).problems == [])
            }
        }
    }

    @Test func `who reads the state before a large deletion finds every document`() async throws {
        try await withTemporaryFolder { folder in
            var limits = Limits()
            limits.documentCacheBytes = 0
            for ofBucket in [false, true] {
                try await withBackend(
                    .embedded, path: folder + "/store\(ofBucket).sqlite", limits: limits,
                    tuning: Self.tuning
                ) { client in
                    try await Self.put(0..<60, k: { _ in 1 }, on: client)
                    let read = try client.backend.prepare(
                        .page(Query(clause: .all), in: Self.bucket, by: nil))
                    if ofBucket {
                        try await client.value("bucket.delete", #"{"bucket":"items"}"#)
                    } else {
                        #expect(try await Self.delete(k: 1, on: client) == 60)
                    }
                    client.backend.settle()
                    var writer = JSONWriter()
                    _ = try read.run(maximumBytes: 1_000_000, until: nil, into: &writer)
                    let text = String(decoding: writer.bytes, as: UTF8.self)
                    for number in 0..<60 { #expect(text.contains(#""_id":"o\#(number)""#)) }
                }
            }
        }
    }

    /// Each object is in one of two classes, of which one is deleted while objects move between them.
    @Test(arguments: BackendKind.all, ContractSeeds.all)
    func `a deletion beside writes takes effect at one moment`(
        on kind: BackendKind, seed: UInt64
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            var tuning = Self.tuning
            tuning.turn = .milliseconds(5)
            try await withBackend(kind, path: path, tuning: tuning) { client in
                for round in 0..<6 {
                    try await Self.put(0..<60, k: { $0 % 2 }, on: client)
                    let log = MoveLog()
                    await withTaskGroup { group in
                        for writer in 0..<3 {
                            group.addTask {
                                var random = SplitMix64(
                                    seed: seed * 100 + UInt64(round * 3 + writer))
                                for _ in 0..<40 {
                                    let number = random.below(20) * 3 + writer
                                    let k = random.below(2)
                                    let version = await Self.write(number, k, on: client)
                                    log.note(number, k, version)
                                }
                            }
                        }
                        group.addTask {
                            _ = try? await Self.delete(k: 1, on: client)
                        }
                    }
                    try await log.check(on: client, "seed \(seed), round \(round)")
                    _ = try await client.value("bucket.delete", #"{"bucket":"items"}"#)
                }
                client.backend.settle()
                try Self.check(client.backend)
            }
            #expect(try kind.check(path).problems == [])
        }
    }

    static func check(_ backend: any Backend) throws {
        let report = try backend.check(until: nil)
        #expect(report.problems == [])
    }

    // MARK: Objects with a class

    static func put(
        _ numbers: Range<Int>, k: (Int) -> Int, on client: some ContractClient
    ) async throws {
        let objects = numbers.map {
            #"{"_id":"o\#($0)","k":\#(k($0)),"at":{"_type":"point","lat":\#($0 % 90),"lon":1}}"#
        }
        try await client.value(
            "object.putMany",
            #"{"bucket":"items","objects":[\#(objects.joined(separator: ","))]}"#)
    }

    private static func write(
        _ number: Int, _ k: Int, on client: some ContractClient
    ) async -> Int? {
        do {
            return try await client.value(
                "object.put", #"{"bucket":"items","id":"o\#(number)","object":{"k":\#(k)}}"#
            )["objects"]?.array?.first?["_version"]?.int
        } catch {
            Issue.record("a put is refused: \(error)")
            return nil
        }
    }

    static func delete(k: Int, on client: some ContractClient) async throws -> Int? {
        try await client.value(
            "bucket.deleteWhere",
            #"{"bucket":"items","bucketQuery":{"clause":{"type":"eq","field":"k","value":\#(k)}}}"#
        )["deleted"]?.int
    }

    static func ids(on client: some ContractClient) async throws -> [String] {
        try await client.value("bucket.query", #"{"bucket":"items"}"#)["results"]?.array?
            .compactMap { $0["_id"]?.string }.sorted() ?? []
    }

    static func names(_ numbers: some Sequence<Int>) -> [String] {
        numbers.map { "o\($0)" }.sorted()
    }

    private static func copy(_ path: String, to copy: String) {
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
            try? FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
    }

    /// What was written to each object, in the order of its writer, which is the only one.
    private final class MoveLog: Sendable {
        private let moves = Mutex<[Int: [(k: Int, version: Int?)]]>([:])

        func note(_ number: Int, _ k: Int, _ version: Int?) {
            moves.withLock { $0[number, default: []].append((k, version)) }
        }

        /// The deletion removed an object between two of its writes, or after the last one, only if
        /// the object was in the deleted class then.
        func check(on client: some ContractClient, _ comment: Comment) async throws {
            for (number, moves) in moves.withLock({ $0 }) {
                var (version, k) = (1, number % 2)
                var deletions = 0
                for move in moves {
                    if move.version == 1 {
                        deletions += 1
                        #expect(k == 1, "o\(number) was not to be deleted, \(comment)")
                        version = 0
                    }
                    #expect(move.version == version + 1, "o\(number), \(comment)")
                    (version, k) = (version + 1, move.k)
                }
                let left = try? await client.value(
                    "object.get", #"{"bucket":"items","id":"o\#(number)"}"#)
                if let left {
                    #expect(left["k"]?.int == k, "o\(number), \(comment)")
                    #expect(left["_version"]?.int == version, "o\(number), \(comment)")
                } else {
                    deletions += 1
                    #expect(k == 1, "o\(number) was not to be deleted, \(comment)")
                }
                #expect(deletions <= 1, "o\(number), \(comment)")
            }
        }
    }
}
