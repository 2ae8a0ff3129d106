import BackendContract
import Objects

/// Deletions that belong together.
extension StoreChanges {
    /// The same changes. Deletions of one time that follow each other are one list, if there is a list
    /// among them or they are many. All tombstones stay, because they name ids.
    ///
    /// - Parameter count: the most tombstones that are no list.
    public func joiningDeletions(longerThan count: Int) -> StoreChanges {
        var joined = self
        joined.deletions = runs().filter { $0.isListed || $0.creations.count > count }.map {
            ListedDeletion($0.creations, in: $0.bucket, from: $0.firstChange, at: $0.deleted)
        }
        return joined
    }

    /// Deletions whose changes follow each other.
    private struct Run {
        let firstChange: ChangeNumber
        let bucket: BucketName
        let deleted: Int64
        var creations: [ChangeNumber]
        var isListed: Bool

        /// Takes another run in that follows this one; returns whether it does.
        mutating func append(_ next: Run) -> Bool {
            guard next.firstChange == firstChange + ChangeNumber(creations.count),
                next.bucket == bucket, next.deleted == deleted,
                creations.last! < next.creations.first!
            else { return false }
            creations += next.creations
            isListed = isListed || next.isListed
            return true
        }
    }

    /// Every deletion once, in order.
    private func runs() -> [Run] {
        var runs: [Run] = []
        func add(_ run: Run) {
            if runs.isEmpty || !runs[runs.count - 1].append(run) { runs.append(run) }
        }
        var lists = deletions[...]
        func addLists(upTo change: ChangeNumber) {
            while let list = lists.first, list.firstChange <= change {
                add(
                    Run(
                        firstChange: list.firstChange, bucket: list.bucket, deleted: list.deleted,
                        creations: list.creations, isListed: true))
                lists.removeFirst()
            }
        }
        for tombstone in tombstones {
            addLists(upTo: tombstone.change)
            // The row of an object of a list may be gone before the list is.
            if let last = runs.last, last.isListed,
                tombstone.change < last.firstChange + ChangeNumber(last.creations.count)
            {
                continue
            }
            add(
                Run(
                    firstChange: tombstone.change, bucket: tombstone.bucket,
                    deleted: tombstone.deleted, creations: [tombstone.creation], isListed: false))
        }
        addLists(upTo: .max)
        return runs
    }
}
