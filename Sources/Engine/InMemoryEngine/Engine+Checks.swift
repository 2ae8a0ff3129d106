import BackendContract
import JSONText
import Objects
import PersistentStructures

extension Engine {
    /// The present state, for comparison with the store.
    public func present() -> EngineState { EngineState(snapshot: snapshot) }

    /// The number of objects that the engine holds for a bucket, including expired objects.
    public func count(of bucket: BucketName) -> Int { present().count(of: bucket) }

    /// Whether a bucket exists.
    public func has(_ bucket: BucketName) -> Bool { snapshot.bucket(bucket) != nil }

    /// One sentence for each broken invariant of any bucket.
    public func violations() -> [String] { present().violations() }
}

/// One state of an engine, kept alive by this value, for comparison with stored objects.
public struct EngineState: Sendable {
    let snapshot: Snapshot

    /// The number of the latest change that the state contains.
    public var change: ChangeNumber { snapshot.change }

    /// One sentence for each broken invariant of any bucket.
    public func violations() -> [String] {
        snapshot.buckets.flatMap { name, bucketView in
            bucketView.state.violations().map { "bucket \(name.text): \($0)" }
        }
    }

    /// The buckets of the state, in no particular order.
    public var buckets: [BucketName] { Array(snapshot.buckets.keys) }

    /// The number of objects in a bucket, including expired objects.
    public func count(of bucket: BucketName) -> Int { snapshot.bucket(bucket)?.count ?? 0 }

    /// The differences between an object in memory and the stored object, one sentence each.
    ///
    /// - Parameters:
    ///   - object: the stored object.
    ///   - document: returns the document as clients read it. It is called only if the bucket has
    ///     columns.
    public func disagreements(
        with object: ObjectChange, document: () throws -> JSONView
    ) rethrows -> [String] {
        guard let state = snapshot.bucket(object.bucket),
            let slot = state.slot(created: object.creation), state.records[Int(slot)].isAlive
        else { return ["it is stored, but not in memory"] }
        var found: [String] = []
        if state.records[Int(slot)].change != object.change {
            found.append("memory has it as of another change")
        }
        if state.slot(of: object.metadata.id) != slot {
            found.append("its id leads to another object")
        }
        if state.expiries[slot] != object.metadata.expires ?? Expiries.never {
            found.append("it expires at another time than memory has it")
        }
        if Set(state.points(of: slot)) != Set(object.points) {
            found.append("the index has other points than the row")
        }
        if !state.columns.isEmpty { found += state.columns.disagreements(slot, try document()) }
        return found
    }
}

extension ColumnSet {
    /// The columns whose value for a slot differs from the document's value.
    fileprivate func disagreements(_ slot: Slot, _ document: JSONView) -> [String] {
        entries.filter { field, entry in
            let value = ColumnValue(field.value(in: document))
            let cell = entry.column.cell(of: slot)
            return cell != .unknown && cell != entry.column.find(value)
        }.map { "the column of \($0.key.text) has another value" }.sorted()
    }
}

extension BucketState {
    func violations() -> [String] {
        var found: [String] = []
        var alive = 0
        var last: ChangeNumber = 0
        for slot in 0..<slotCount {
            let record = records[slot]
            if slot > 0, record.creation <= last {
                found.append("slot \(slot): creation \(record.creation) follows \(last)")
            }
            last = record.creation
            guard record.isAlive else {
                if expiries[Slot(slot)] != Expiries.never {
                    found.append("slot \(slot): a hole that is to expire")
                }
                continue
            }
            alive += 1
            let id = String(decoding: self.id(of: Slot(slot)), as: UTF8.self)
            if self.slot(of: ObjectID(trusted: id)) != Slot(slot) {
                found.append("slot \(slot): its id \(id) leads to another slot or nowhere")
            }
        }
        if alive != count { found.append("\(alive) objects are alive, \(count) are counted") }
        for (field, index) in fields {
            found += index.violations().map { "points of \(field.text): \($0)" }
        }
        return found + expiries.violations()
    }
}
