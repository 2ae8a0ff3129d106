import BackendContract
import InMemoryEngine
import Objects
import QueryLanguage

/// Deletions of many objects that another store is about to do. The bucket that each leaves is made
/// beside the writer meanwhile, so that it can be put in place when the deletion is taken over.
extension Writer {
    /// The owner of the searches for other stores.
    private static let foreseeing = "other stores"
    /// The time after which a deletion is not expected any more.
    private static let patience = Duration.seconds(30)

    /// Begins with a deletion of the objects that satisfy a clause.
    func foresee(_ clause: Clause, in bucket: BucketName) {
        guard upstream?.refusal(of: bucket) == nil,
            engine.count(of: bucket) > tuning.deletedInPlace
        else { return }
        searches.begin()
        searchers.submit(for: Self.foreseeing) { [self] in
            var deletion = FoundDeletion(of: clause, in: bucket)
            guard case .record? = try? engine.advance(&deletion) else { return searches.end() }
            let found = deletion
            thread.async { [self] in
                // It holds the bucket, and has not come.
                if let former = foreseen.withLock({ $0.removeValue(forKey: bucket) }) {
                    engine.end(former)
                }
                engine.record(bucket) { [self] recording in
                    searchers.submit(for: Self.foreseeing) { [self] in
                        var deletion = found
                        let isMade = (try? engine.advance(&deletion, with: recording)) != nil
                        let foreseen = isMade ? engine.foresee(deletion) : nil
                        thread.async { [self] in
                            if let foreseen { expect(foreseen) } else { engine.compact(bucket) }
                        }
                        searches.end()
                    }
                }
            }
        }
    }

    /// Keeps what was made for a deletion until that comes, unless it came meanwhile.
    private func expect(_ deletion: ForeseenDeletion) {
        guard engine.isAhead(deletion) else { return drop(deletion) }
        let former = foreseen.withLock { $0.updateValue(deletion, forKey: deletion.bucket) }
        if let former { engine.end(former) }
        thread.async(after: Self.patience) { [weak self] in
            guard let self else { return }
            let expected = foreseen.withLock { foreseen in
                foreseen[deletion.bucket]?.isSame(as: deletion) == true
                    ? foreseen.removeValue(forKey: deletion.bucket) : nil
            }
            if let expected { drop(expected) }
        }
    }

    /// Expects none of the deletions any more that have been foreseen.
    func expectNothing() {
        thread.sync { [self] in
            let all = foreseen.withLock { foreseen in
                defer { foreseen = [:] }
                return foreseen.values
            }
            for deletion in all { drop(deletion) }
        }
    }

    /// Ends what was made in vain, on the writer's thread. The bucket may have waited for that.
    private func drop(_ deletion: ForeseenDeletion) {
        engine.end(deletion)
        engine.compact(deletion.bucket)
    }

    /// Forgets what was made too late for some changes.
    func dropForeseen(_ changes: StoreChanges) {
        for deletion in changes.deletions {
            let late = foreseen.withLock { $0.removeValue(forKey: deletion.bucket) }
            if let late { drop(late) }
        }
    }

    /// Takes what has been made for the deletions among some changes, beside the writer.
    func takeForeseen(_ changes: StoreChanges) -> [BucketName: ForeseenDeletion] {
        var taken: [BucketName: ForeseenDeletion] = [:]
        for (bucket, lists) in Dictionary(grouping: changes.deletions, by: \.bucket) {
            guard let deletion = foreseen.withLock({ $0.removeValue(forKey: bucket) }) else {
                continue
            }
            let isBucketGone = changes.deletedBuckets.contains { $0.name == bucket }
            if isBucketGone {
                engine.end(deletion)
            } else {
                taken[bucket] = engine.turn(deletion, into: lists.flatMap(\.creations).sorted())
            }
        }
        return taken
    }
}
