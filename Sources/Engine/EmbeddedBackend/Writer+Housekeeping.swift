import BackendContract
import ObjectStore
import Runtime
import WriteRules

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

    /// Deletes old tombstones and old requests in batches.
    func forgetOld() {
        betweenWrites { [self] in
            do throws(StoreFailure) {
                let time = clock.milliseconds()
                let (requests, tombstones) = (
                    time - RememberedRequest.milliseconds, time - Self.tombstoneMilliseconds
                )
                let forgotten = try store.write { transaction in
                    try transaction.deleteRequests(
                        until: requests, atMost: tuning.removedAtOnce)
                    return try transaction.deleteTombstones(
                        before: tombstones, atMost: tuning.removedAtOnce)
                }
                try upstream?.forget(tombstonesBefore: tombstones, requestsBefore: requests)
                if forgotten == tuning.removedAtOnce { forgetOld() }
            } catch {
                logger.warning("old deletions are kept", metadata: ["reason": "\(error)"])
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
