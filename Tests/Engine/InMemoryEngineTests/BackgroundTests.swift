import BackendContract
import Dispatch
import JSONText
import Objects
import QueryLanguage
import Runtime
import SpatialIndex
import Synchronization
import TestSupport
import Testing

@testable import InMemoryEngine

/// Columns, their orders and renumbered slots, made beside the writer, against the documents.
@Suite struct BackgroundTests {
    @Test(arguments: Seeds.first(4))
    func `whatever is written while something is made, queries find what the documents say`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        let table = EngineTable()
        for round in 0..<40 {
            table.write(random.below(300), &random)
            if random.oneIn(6) { table.deleteMost(&random) }
            // Asking has columns and orders made.
            try table.check("seed \(seed), round \(round)")
            if random.oneIn(2) { table.engine.installBackgroundWork() }
            if random.oneIn(4) { table.settle() }
        }
        table.settle()
        try table.check("seed \(seed), at the end")
        #expect(table.engine.violations() == [], "seed \(seed)")
    }

    @Test
    func `an order that waits behind another bucket's columns is made of the slots there are`()
        throws
    {
        var random = SplitMix64(seed: 1)
        let table = EngineTable()
        table.write(6_000, &random)
        try table.check("filled")
        table.settle()
        let gate = table.hold("busy")
        table.create(in: "busy", 300, &random)
        _ = try table.engine.count(.eq(kind, .number(.integer(1))), in: "busy")
        table.engine.installBackgroundWork()
        // Ordered by what has a column, over more candidates than a query looks at without an order.
        _ = try table.page(orderedBy: kind)
        table.deleteAll()
        table.write(70, &random)
        gate.signal()
        table.settle()
        table.write(70, &random)
        try table.check("after")
        #expect(table.engine.violations() == [])
    }

    @Test
    func `a reader that passes over expired objects leaves the transaction's new values alone`()
        throws
    {
        let table = EngineTable()
        var random = SplitMix64(seed: 2)
        table.write(400, &random)
        table.create(in: shops, 50, &random, expires: 1_000)
        try table.check("filled")
        table.settle()
        let next = table.engine.nextSnapshot()
        let creation = table.put(into: next)
        table.now.withLock { $0 = 2_000 }
        try table.check("expired")
        table.publish(next, with: creation)
        try table.check("published")
    }

    @Test func `a field that no object has gets a column of a quarter of those a bucket may have`()
        throws
    {
        var random = SplitMix64(seed: 3)
        let table = EngineTable { limits in
            limits.bucketColumns = 8
            limits.columnsPerMinute = 30
        }
        table.write(300, &random)
        let fields = (0..<25).map { FieldPath("absent\($0)") }
        for field in fields {
            let clause = Clause.hasField(field, nil)
            #expect(try table.engine.count(clause, in: shops, by: "a") == 0)
            table.settle()
        }
        #expect(table.columns.count == 2)
        // Those that were asked for last are there.
        #expect(Set(table.columns).isSubset(of: fields.suffix(5)))
        #expect(table.engine.takeChangedColumns() == [])
    }

    @Test func `one principal has columnsPerMinute columns made in a minute, another as many`()
        throws
    {
        var random = SplitMix64(seed: 4)
        let table = EngineTable { $0.columnsPerMinute = 3 }
        table.write(300, &random)
        let clause = Clause.or((0..<9).map { .hasField(FieldPath("f\($0)"), nil) })
        for (principal, columns) in [("a", 3), ("a", 3), ("b", 6), (nil, 9)] {
            _ = try table.engine.count(clause, in: shops, by: principal)
            table.settle()
            #expect(table.columns.count == columns, "\(principal ?? "nobody")")
        }
    }

    @Test func `no more than bucketColumns columns are made; unused ones make room`() throws {
        var random = SplitMix64(seed: 5)
        let table = EngineTable { $0.bucketColumns = 2 }
        table.write(300, &random)
        for field in [kind, name, FieldPath("size")] {
            for _ in 0..<2 {
                _ = try table.engine.count(.hasField(field, nil), in: shops)
                table.settle()
            }
            #expect(table.columns.count <= 2)
        }
        try table.check("with two columns")
    }
}

private let kind = FieldPath("kind")
private let name = FieldPath("name")

/// An engine, its documents in a table, and what queries have to find.
private final class EngineTable {
    let engine: Engine
    let now = Shared<Int64>(0)
    private let documents = Documents()
    private(set) var change: ChangeNumber = 0
    private var objects: [ChangeNumber: (json: String, expires: Int64?)] = [:]
    private let parser = JSONParser()

    init(_ adjust: (inout Limits) -> Void = { _ in }) {
        var limits = Limits()
        adjust(&limits)
        var tuning = Engine.Tuning()
        tuning.smallestBucket = 8
        tuning.documentsForColumn = 1
        tuning.candidatesForOrder = 1
        tuning.gainForOrder = 0.01
        let now = now
        engine = Engine(
            limits: limits, secret: [1], source: documents, tuning: tuning,
            clock: ServiceClock(milliseconds: { now.withLock { $0 } }))
    }

    /// The fields of the bucket that have columns.
    var columns: [FieldPath] {
        (engine.snapshot.bucket(shops)?.columns.entries.keys).map(Array.init) ?? []
    }

    /// Returns when nothing is being made any more.
    func settle() {
        repeat { engine.installBackgroundWork() } while !engine.isSettled
    }

    /// Has reading a bucket's documents wait for a signal.
    func hold(_ bucket: BucketName) -> DispatchSemaphore {
        let gate = DispatchSemaphore(value: 0)
        documents.state.withLock { $0.held = (bucket, gate) }
        return gate
    }

    // MARK: Writing

    /// Creates, changes and deletes objects, one transaction each.
    func write(_ count: Int, _ random: inout SplitMix64) {
        for _ in 0..<count {
            let all = objects.keys.sorted()
            switch random.below(5) {
            case 0 where all.count > 20: delete([random.pick(all)])
            case 1 where !all.isEmpty: put(random.pick(all), json(&random), nil, in: shops)
            default: create(in: shops, 1, &random)
            }
        }
    }

    func create(
        in bucket: BucketName, _ count: Int, _ random: inout SplitMix64, expires: Int64? = nil
    ) {
        for _ in 0..<count { put(change + 1, json(&random), expires, in: bucket) }
    }

    func deleteMost(_ random: inout SplitMix64) {
        delete(objects.keys.sorted().filter { _ in !random.oneIn(20) })
    }

    func deleteAll() { delete(objects.keys.sorted()) }

    private static let named = #"{"kind":1,"name":"value of a transaction"}"#

    /// Writes an object in a transaction, which is not published before `publish`.
    func put(into next: NextSnapshot) -> ChangeNumber {
        change += 1
        apply(change, Self.named, nil, in: shops, to: next)
        return change
    }

    func publish(_ next: NextSnapshot, with creation: ChangeNumber) {
        objects[creation] = (Self.named, nil)
        engine.publish(next, upTo: change)
    }

    private func put(
        _ creation: ChangeNumber, _ json: String, _ expires: Int64?, in bucket: BucketName
    ) {
        change += 1
        let next = engine.nextSnapshot()
        apply(creation, json, expires, in: bucket, to: next)
        if bucket == shops { objects[creation] = (json, expires) }
        engine.publish(next, upTo: change)
    }

    private func apply(
        _ creation: ChangeNumber, _ json: String, _ expires: Int64?, in bucket: BucketName,
        to next: NextSnapshot
    ) {
        let metadata = ObjectMetadata(
            id: uuid(Int(creation)), created: 0, modified: 0, version: 1, expires: expires)
        let text = Array(json.utf8)
        documents.put(
            bucket, creation, change, metadata.document(around: text))
        next.upsert(
            ObjectChange(
                bucket: bucket, metadata: metadata, creation: creation, change: change, points: []),
            text, parser)
    }

    private func delete(_ creations: [ChangeNumber]) {
        change += 1
        let next = engine.nextSnapshot()
        next.delete(creations, in: shops, by: creations)
        for creation in creations {
            objects[creation] = nil
            documents.remove(shops, creation)
        }
        engine.publish(next, upTo: change)
    }

    private func json(_ random: inout SplitMix64) -> String {
        let kind = random.oneIn(9) ? "" : "\"kind\":\(random.below(40)),"
        let name = random.oneIn(5) ? "null" : "\"n\(random.below(2_000))\""
        return "{\(kind)\"name\":\(name),\"size\":\(random.below(9))}"
    }

    // MARK: Asking

    func page(orderedBy field: FieldPath) throws -> [String] {
        let query = Query(
            clause: .all, order: [OrderKey(.field(field), descending: false)], limit: 50)
        var writer = JSONWriter()
        _ = try engine.prepare(.page(query, in: shops)).run(into: &writer)
        let text = "[" + String(decoding: writer.bytes, as: UTF8.self) + "]"
        return try JSONParser.reading(Array(text.utf8)) { view in
            view.elements.map { $0["_id"]!.string! }
        }
    }

    /// Compares counts and the beginning of an order with the documents.
    func check(_ context: String) throws {
        let now = now.withLock { $0 }
        let alive = objects.filter { $0.value.expires ?? .max > now }
        func isTrue(_ clause: Clause, _ json: String) throws -> Bool {
            try JSONParser.reading(Array(json.utf8)) { clause.evaluate(on: $0) == .yes }
        }
        let clauses: [Clause] = [
            .eq(kind, .number(.integer(7))), .hasField(kind, nil), .prefix(name, Array("n1".utf8)),
            .eq(name, .null), .not(.eq(kind, .number(.integer(3)))),
            .eq(name, .string(Array("value of a transaction".utf8))),
        ]
        for clause in clauses {
            let expected = try alive.count { try isTrue(clause, $0.value.json) }
            let found = try engine.count(clause, in: shops)
            #expect(found == expected, "\(context), \(clause)")
        }
        for field in [kind, name] {
            let keyed = try alive.map { creation, object in
                var key = SortKey()
                try JSONParser.reading(Array(object.json.utf8)) {
                    key.append(SortValue(field.value(in: $0)), descending: false)
                }
                return (key: key, creation: creation)
            }
            let sorted = keyed.sorted {
                $0.key != $1.key ? $0.key < $1.key : $0.creation < $1.creation
            }
            let expected = sorted.prefix(50).map { uuid(Int($0.creation)).text }
            #expect(try page(orderedBy: field) == expected, "\(context), by \(field.text)")
        }
    }
}

/// A value for several threads.
final class Shared<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        value.withLock { body(&$0) }
    }
}

/// The documents of some buckets.
private final class Documents: DocumentSource {
    struct State {
        var buckets: [BucketName: [ChangeNumber: (change: ChangeNumber, text: [UInt8])]] = [:]
        var held: (bucket: BucketName, gate: DispatchSemaphore)?
    }

    let state = Mutex(State())

    func put(
        _ bucket: BucketName, _ creation: ChangeNumber, _ change: ChangeNumber, _ text: [UInt8]
    ) {
        state.withLock { $0.buckets[bucket, default: [:]][creation] = (change, text) }
    }

    func remove(_ bucket: BucketName, _ creation: ChangeNumber) {
        state.withLock { $0.buckets[bucket]?[creation] = nil }
    }

    func document(
        creation: ChangeNumber
    ) throws(ServiceFailure) -> (change: ChangeNumber, text: [UInt8])? {
        state.withLock { state in
            for bucket in state.buckets.values {
                if let found = bucket[creation] { return found }
            }
            return nil
        }
    }

    func forEachDocument(
        in bucket: BucketName, _ body: (ChangeNumber, [UInt8]) -> Bool
    ) throws(ServiceFailure) {
        let (documents, held) = state.withLock { ($0.buckets[bucket] ?? [:], $0.held) }
        if let held, held.bucket == bucket { held.gate.wait() }
        for (creation, stored) in documents {
            guard body(creation, stored.text) else { return }
        }
    }
}

extension BucketName: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self.init(trusted: text) }
}
