import BackendContract
import Objects

/// Takes over what other stores have changed.
extension WriteSession {
    /// Applies what others have changed since the last transaction.
    func apply(_ changes: StoreChanges) throws {
        let listed = try list(changes)
        for (bucket, tombstones) in Dictionary(
            grouping: listed.without(changes.tombstones), by: \.bucket)
        {
            try delete(tombstones, in: bucket)
        }
        for bucket in changes.deletedBuckets {
            let gone = listed.ofDeletedBuckets[bucket.name]
            try dropBucket(
                bucket.name, with: gone?.creations ?? [], by: gone?.changes ?? [])
        }
        for bucket in changes.buckets {
            let number = try number(of: bucket.name) ?? createBucket(bucket.name)
            try transaction.setPlace(of: number, named: bucket.name, to: bucket.place)
            nextSnapshot.createBucket(bucket.name)
        }
        try transaction.add(changes.fields)
        for object in changes.objects { try apply(object) }
        for bucket in Set(changes.buckets.map(\.name) + nextSnapshot.changedBuckets) {
            guard let number = try number(of: bucket) else { continue }
            nextSnapshot.setPlace(of: bucket, to: try transaction.place(of: number))
        }
        transaction.advance(to: changes.change)
    }

    // MARK: Deletions

    /// What has been deleted by lists.
    private struct Listed {
        /// The changes that deleted objects which were here, in ascending order.
        var changes: [ChangeNumber] = []
        /// What goes with its bucket: the changes that created the objects, and those that deleted
        /// them.
        var ofDeletedBuckets: [BucketName: Gone] = [:]

        typealias Gone = (creations: [ChangeNumber], changes: [ChangeNumber])

        /// The tombstones of other objects, in their order.
        func without(_ tombstones: [StoreChanges.Tombstone]) -> [StoreChanges.Tombstone] {
            guard !changes.isEmpty else { return tombstones }
            var rest = changes[...]
            return tombstones.filter { tombstone in
                rest = rest.drop { $0 < tombstone.change }
                return rest.first != tombstone.change
            }
        }
    }

    /// Deletes objects by lists. Those that have come and gone since the last transaction are not here;
    /// of them only their tombstones are known.
    private func list(_ changes: StoreChanges) throws -> Listed {
        var listed = Listed()
        var leavingRests: [BucketName: Listed.Gone] = [:]
        for deletion in changes.deletions {
            let bucket = deletion.bucket
            let present =
                foreseen[bucket]?.present(among: deletion.creations)
                ?? nextSnapshot.present(among: deletion.creations, in: bucket)
            guard !present.isEmpty, let number = try number(of: bucket) else { continue }
            try transaction.insert(deletion, in: number)
            note(deletion)
            let creations = present.map { deletion.creations[$0] }
            let numbers = present.map { deletion.change(ofObject: $0) }
            listed.changes += numbers
            if changes.deletedBuckets.contains(where: { $0.name == bucket }) {
                listed.ofDeletedBuckets[bucket, default: ([], [])].creations += creations
                listed.ofDeletedBuckets[bucket]!.changes += numbers
            } else if foreseen[bucket] != nil {
                leavingRests[bucket, default: ([], [])].creations += creations
                leavingRests[bucket]!.changes += numbers
            } else {
                nextSnapshot.delete(creations, in: bucket, by: numbers)
            }
        }
        for (bucket, gone) in leavingRests {
            nextSnapshot.delete(
                gone.creations, in: bucket, by: gone.changes, leaving: foreseen[bucket]!)
        }
        return listed
    }

    private func delete(_ tombstones: [StoreChanges.Tombstone], in bucket: BucketName) throws {
        var creations: [ChangeNumber] = []
        var deletions: [ChangeNumber] = []
        for tombstone in tombstones {
            // An object that has come and gone since the last transaction leaves its tombstone too:
            // a client may have been told of the object elsewhere.
            guard let row = try transaction.row(creation: tombstone.creation) else {
                try transaction.insert(tombstone)
                continue
            }
            if !isAllSuperseded, row.isWhole {
                engine.supersede(row.document, change: row.change)
            }
            try transaction.delete(
                creation: row.creation, id: tombstone.id, in: bucket, change: tombstone.change,
                now: tombstone.deleted)
            creations.append(row.creation)
            deletions.append(tombstone.change)
        }
        if !creations.isEmpty { nextSnapshot.delete(creations, in: bucket, by: deletions) }
    }

    // MARK: Objects

    private func apply(_ object: StoreChanges.Object) throws {
        let former = try transaction.row(creation: object.creation)
        if let former, former.isWhole, !isAllSuperseded {
            engine.supersede(former.document, change: former.change)
        }
        try transaction.put(object, over: former)
        record(
            object.metadata,
            WrittenDocument(text: object.text, points: try transaction.points(of: object)),
            object.bucket, creation: object.creation, change: object.change)
    }
}
