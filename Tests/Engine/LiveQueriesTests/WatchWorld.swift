import BackendContract
import Dispatch
import Foundation
import JSONText
import Logging
import Objects
import QueryLanguage
import Synchronization
import TestSupport

@testable import LiveQueries

/// A back end with a hub, and random writes.
final class WatchWorld {
    let kind: BackendKind
    let path: String
    let clock = TestClock(1_700_000_000_000)
    var opening: BackendKind.Opening
    private(set) var backend: any TestedBackend
    private(set) var hub: WatchHub
    var random: SplitMix64
    let generator: ObjectGenerator
    /// What clauses are made from.
    private(set) var bucket = OracleBucket()
    let name = BucketName(trusted: "couriers")
    private let ids: [String]

    init(
        _ kind: BackendKind, _ path: String, seed: UInt64, limits: Limits = Limits(),
        ids count: Int = 30
    ) throws {
        self.kind = kind
        self.path = path
        var random = SplitMix64(seed: seed)
        generator = ObjectGenerator(&random)
        ids = (0..<count).map { "id.\($0)" }
        opening = BackendKind.Opening(path: path)
        opening.limits = limits
        opening.limits.documentCacheBytes = random.pick([0, 1 << 20])
        opening.clock.milliseconds = { [clock] in clock.now }
        (opening.tuning.holes, opening.tuning.slotsPerHole) = random.pick([(2, 10), (64, 4)])
        opening.tuning.pointsPerTree = random.pick([8, 256])
        opening.tuning.smallestBucket = 8
        opening.tuning.documentsForColumn = random.pick([8, 1_000])
        opening.tuning.objectsForFreezing = random.pick([1, 1_000])
        // By numbers of their own, so that the histories of the seeds stay what they were.
        var deletions = SplitMix64(seed: seed &+ 1_000_000)
        opening.tuning.deletedAtOnce = deletions.pick([1, 128])
        opening.tuning.deletedInPlace = deletions.pick([1, 2_000])
        opening.tuning.housekeeping = random.pick([.milliseconds(5), .seconds(1)])
        backend = try kind.open(opening)
        hub = WatchHub(backend: backend, limits: opening.limits, logger: opening.logger)
        self.random = random
    }

    /// Closes everything and opens the store again.
    ///
    /// - Parameter between: what happens to the file in between.
    func restart(_ between: () throws -> Void = {}) throws {
        try close()
        try between()
        backend = try kind.open(opening)
        hub = WatchHub(backend: backend, limits: opening.limits, logger: opening.logger)
    }

    func close() throws {
        hub.stop()
        try backend.close()
    }

    // MARK: Writes

    @discardableResult
    func submit(_ write: Write) throws -> WriteAnswer {
        let (done, answer) = (DispatchSemaphore(value: 0), Outcome())
        backend.submit(write) {
            answer.set($0)
            done.signal()
        }
        done.wait()
        return try answer.value!.get()
    }

    private final class Outcome: Sendable {
        private let stored = Mutex<Result<WriteAnswer, ServiceFailure>?>(nil)
        var value: Result<WriteAnswer, ServiceFailure>? { stored.withLock { $0 } }
        func set(_ value: Result<WriteAnswer, ServiceFailure>) { stored.withLock { $0 = value } }
    }

    func object(_ id: String, _ text: String, expires: Int64? = nil) throws -> PutObject {
        let document = try JSONParser.reading(Array(text.utf8)) {
            try WrittenDocument($0, at: "object", limits: opening.limits)
        }
        return PutObject(id: ObjectID(trusted: id), document: document, expires: expires)
    }

    func put(_ id: String, _ text: String, expires: Int64? = nil, in name: BucketName? = nil) throws
    {
        try submit(
            .put(
                bucket: name ?? self.name, object: try object(id, text, expires: expires),
                condition: .none))
    }

    func delete(_ id: String, in name: BucketName? = nil) throws {
        _ = try? submit(
            .delete(bucket: name ?? self.name, id: ObjectID(trusted: id), ifVersion: nil))
    }

    /// A random write, or a step of the clock.
    func writeSomething() throws {
        let now = clock.now
        func expiry() -> Int64? { random.oneIn(5) ? now + Int64(1 + random.below(3_000)) : nil }
        switch random.below(32) {
        case 0:
            _ = try? submit(.deleteBucket(name))
            bucket.deleteAll()
        case 1:
            let clause = try clause(
                ClauseGenerator(objects: generator, bucket: bucket).ids(&random))
            _ = try? submit(.deleteWhere(bucket: name, clause: clause))
        case 2..<7:
            clock.now = now + Int64(random.below(1_500))
            hub.look()
        case 7..<11:
            let patch = generator.patch(&random)
            _ = try? submit(
                .patch(
                    bucket: name, id: ObjectID(trusted: random.pick(ids)),
                    patch: Array(patch.utf8), ifVersion: nil, ifNewer: nil, expiry: .unchanged))
        case 11..<16:
            let id = random.pick(ids)
            try delete(id)
            bucket.delete([id])
        case 16..<19:
            let chosen = ids.shuffled(using: &random).prefix(1 + random.below(6))
            var objects: [PutObject] = []
            for id in chosen {
                let document = generator.document(&random)
                objects.append(try object(id, document.sent, expires: expiry()))
                bucket.put(id, document.value, text: nil, now: 0)
            }
            try submit(.putMany(bucket: name, objects: objects))
        default:
            let (id, document) = (random.pick(ids), generator.document(&random))
            try put(id, document.sent, expires: expiry())
            bucket.put(id, document.value, text: nil, now: 0)
        }
    }

    // MARK: Queries

    /// The number of the last change that the hub knows, of all that were answered before the call.
    func change() throws -> ChangeNumber {
        let matcher = hub.matcher
        return try matcher.thread.sync { () throws(ServiceFailure) in try matcher.present() }.change
    }

    func clause(_ value: JSONValue) throws -> Clause {
        try JSONParser.reading(Array(#"{"bucketQuery":{"clause":\#(value.text)}}"#.utf8)) { view in
            var members = try MemberReader(view)
            return try QueryParser(limits: opening.limits).clause(from: &members)
        }
    }

    /// A random query: the params of a watch, and whether it has a limit.
    func query(ranked: Bool) -> String {
        let query = QueryGenerator(objects: generator).query(on: bucket, &random)
        let limit =
            ranked
            ? #","bestEffortLimit":\#(1 + random.below(8)),"intervalMilliseconds":0"# : ""
        // By a copy, so that each seed goes on as it did.
        var other = random
        let fields = other.oneIn(6) ? #","fields":["_version"]"# : query.fieldsMember
        return #"{"bucketQuery":\#(query.bucketQuery)\#(fields)\#(limit)}"#
    }

    /// What `bucket.query` answers, all pages of it; with a limit, its first objects.
    func answer(to params: String) throws -> [JSONValue] {
        let value = try JSONValue(parsing: params)
        var members: [JSONValue.Member] = []
        for name in ["bucketQuery", "fields", "bestEffortLimit"] {
            if let member = value[name] { members.append(.init(name, member)) }
        }
        let limit = value["bestEffortLimit"]?.int
        var found: [JSONValue] = []
        var key: String?
        repeat {
            let page = members + (key.map { [.init("paginationKey", .string($0))] } ?? [])
            let query = try JSONParser.reading(JSONValue.object(page).utf8) { view in
                var reader = MemberReader(params: view)
                return try QueryParser(limits: opening.limits).query(from: &reader)
            }
            var writer = JSONWriter()
            writer.raw("[")
            let end = try backend.prepare(.page(query, in: name)).run(into: &writer)
            writer.raw("]")
            found += try JSONValue(parsing: writer.bytes).array!
            key = limit == nil ? end.nextPaginationKey : nil
        } while key != nil
        return found
    }
}

extension [UInt8] {
    /// Replaces a store's file.
    func writeFile(at path: String) throws {
        for suffix in ["-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
        try Data(self).write(to: URL(fileURLWithPath: path))
    }
}
