import BackendContract
import InMemoryEngine
import Runtime

/// What the writer does between two transactions, besides writes.
extension Writer {
    /// The time for which tombstones are kept, in milliseconds.
    private static let tombstoneMilliseconds: Int64 = 7 * 86_400_000

    /// Removes expired objects, turn by turn, unless that is under way.
    func removeExpired() {
        guard !isRemovingExpired.exchange(true, ordering: .relaxed) else { return }
        removeExpired(after: nil)
    }

    private func removeExpired(after last: ExpiredObject?) {
        betweenWrites { [self] in
            do throws(StoreFailure) {
                let end = ThreadClock.deadline(after: tuning.turn)
                let next = try transact { evaluator, _ in
                    try evaluator.removeExpired(after: last, atMost: tuning.removedAtOnce) {
                        end.isOver
                    }
                }
                if let next { return removeExpired(after: next) }
            } catch {
                logger.warning("expired objects are not removed", metadata: ["reason": "\(error)"])
            }
            isRemovingExpired.store(false, ordering: .relaxed)
        }
    }

    /// Deletes old tombstones and old requests in batches, between which writes have their turns, until
    /// none are left.
    func forgetOld() {
        betweenWrites { [self] in
            do throws(StoreFailure) {
                let time = clock.milliseconds()
                let (requests, tombstones) = (
                    time - RememberedRequest.milliseconds, time - Self.tombstoneMilliseconds
                )
                let forgotten = try store.write { transaction in
                    max(
                        try transaction.deleteRequests(
                            until: requests, now: time, atMost: tuning.removedAtOnce),
                        try transaction.deleteTombstones(
                            before: tombstones, now: time, atMost: tuning.removedAtOnce))
                }
                let isMoreUpstream = try upstream?.forget(
                    tombstonesBefore: tombstones, requestsBefore: requests)
                if forgotten == tuning.removedAtOnce || isMoreUpstream == true { forgetOld() }
            } catch {
                logger.warning("old deletions are kept", metadata: ["reason": "\(error)"])
            }
        }
    }

    /// Forgets the field paths that no object uses any more, some at a time. Those of an upstream are
    /// the upstream's.
    ///
    /// - Parameters:
    ///   - used: those that objects used at some state.
    ///   - number: that of the last field path that has been looked at.
    func forgetFields(except used: UsedFields, after number: Int64 = 0) {
        guard upstream == nil else { return }
        betweenWrites { [self] in
            // Rows that are deleted and not removed yet may name field paths that nothing else does.
            guard !isRemovingRows else { return }
            do throws(StoreFailure) {
                let usedSince = engine.usedFields(changedAfter: used.change).paths
                let last = try store.write { transaction in
                    try transaction.forgetFields(after: number, atMost: Self.fieldsAtOnce) {
                        used.paths.contains($0) || usedSince.contains($0)
                    }
                }
                if let last { forgetFields(except: used, after: last) }
            } catch {
                logger.warning("unused field paths are kept", metadata: ["reason": "\(error)"])
            }
        }
    }

    /// The field paths that are looked at in one transaction.
    private static let fieldsAtOnce = 256

    /// The pages that are given back in one transaction: some milliseconds.
    static let pagesAtOnce = 64

    /// Gives pages back that hold nothing, for one turn. A file that an earlier version has made keeps
    /// them until it is compacted.
    func giveBackPages(keeping kept: Int) {
        betweenWrites { [self] in
            do throws(StoreFailure) {
                guard try store.givesPagesBack() else { return }
                let end = ThreadClock.deadline(after: tuning.turn)
                var excess = try store.countPages().free - kept
                while excess > 0, !end.isOver {
                    excess = try store.giveBack(atMost: min(excess, Self.pagesAtOnce)) - kept
                }
            } catch {
                logger.warning("free pages are kept", metadata: ["reason": "\(error)"])
            }
        }
    }

    /// Completes a checkpoint so that the write-ahead log can restart.
    func finishCheckpoint() {
        betweenWrites { [self] in
            do throws(StoreFailure) {
                try store.finishCheckpoint()
            } catch {
                logger.warning("a checkpoint failed", metadata: ["reason": "\(error)"])
            }
        }
    }
}
