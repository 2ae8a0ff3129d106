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

let kind = FieldPath("kind")
let name = FieldPath("name")

/// An engine, its documents in a table, and what queries have to find.
final class EngineTable {
    let engine: Engine
    let now = Shared<Int64>(0)
    let documents = Documents()
    private(set) var change: ChangeNumber = 0
    private var objects: [ChangeNumber: (json: String, expires: Int64?)] = [:]
    private let parser = JSONParser()

    init(
        _ adjust: (inout Limits) -> Void = { _ in },
        tune: (inout Engine.Tuning) -> Void = { _ in }
    ) {
        var limits = Limits()
        adjust(&limits)
        var tuning = Engine.Tuning()
        tuning.smallestBucket = 8
        tuning.documentsForColumn = 1
        tuning.candidatesForOrder = 1
        tuning.gainForOrder = 0.01
        tune(&tuning)
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

    func deleteBucket() {
        deleteAll()
        change += 1
        let next = engine.nextSnapshot()
        next.deleteBucket(shops)
        engine.publish(next, upTo: change)
    }

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
final class Documents: DocumentSource {
    struct State {
        var buckets: [BucketName: [ChangeNumber: (change: ChangeNumber, text: [UInt8])]] = [:]
        var held: (bucket: BucketName, gate: DispatchSemaphore)?
        /// The buckets whose documents were passed over, in order.
        var passes: [BucketName] = []
        /// The number of documents that passes have delivered.
        var passedOver = 0
        /// Whether passes fail.
        var isFailing = false
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
        let (documents, held, isFailing) = state.withLock { state in
            state.passes.append(bucket)
            return (state.buckets[bucket] ?? [:], state.held, state.isFailing)
        }
        if let held, held.bucket == bucket { held.gate.wait() }
        if isFailing { throw ServiceFailure(.undefined, "no documents") }
        for (creation, stored) in documents {
            state.withLock { $0.passedOver += 1 }
            guard body(creation, stored.text) else { return }
        }
    }
}

extension BucketName: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self.init(trusted: text) }
}
