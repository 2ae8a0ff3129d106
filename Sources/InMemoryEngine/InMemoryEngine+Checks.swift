import Backend
import Objects
import SpatialIndex

extension InMemoryEngine {
    /// Every broken invariant of every bucket, in a sentence each.
    public func violations() -> [String] {
        snapshot.buckets.flatMap { name, box in
            box.state.violations().map { "bucket \(name.text): \($0)" }
        }
    }

    /// How many objects the engine holds of a bucket.
    public func count(of bucket: BucketName) -> Int { snapshot.bucket(bucket)?.count ?? 0 }

    /// The points the engine holds of an object.
    public func points(created creation: ChangeNumber, in bucket: BucketName) -> [FieldPoint] {
        guard let state = snapshot.bucket(bucket), let slot = state.slot(created: creation) else {
            return []
        }
        return state.fields.compactMap { field, index in
            index.position(of: slot).map { FieldPoint(field: field, coordinate: $0) }
        }
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
            guard record.isAlive else { continue }
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
        return found
    }
}
