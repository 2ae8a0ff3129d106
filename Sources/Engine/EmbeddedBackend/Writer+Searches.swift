import BackendContract
import InMemoryEngine
import Objects
import Runtime
import Synchronization

/// Writes that search. The search runs on threads of its own, so no other write waits for it; the
/// writer looks only at what has been written since.
extension Writer {
    /// The searches that run at once.
    static let searchThreads = 2

    /// Searches, or looks at what has been written since the last time; then the write takes its turn
    /// with the others.
    func search(_ pending: PendingWrite) {
        searchers.submit(for: pending.owner) { [self] in advance(pending) }
    }

    private func advance(_ pending: PendingWrite) {
        var pending = pending
        let bucket = pending.write.bucket
        do throws(ServiceFailure) {
            let stay = upstream?.stay(of: bucket)
            if pending.stay != stay {
                engine.end(pending.found!)
                pending.found = FoundDeletion(of: pending.found!.clause, in: bucket)
            }
            pending.stay = stay
            switch try engine.advance(&pending.found!) {
            case .commit: enqueue(pending)
            case .record: record(pending)
            }
        } catch {
            answer(pending, .failure(error))
        }
    }

    private func record(_ pending: PendingWrite) {
        thread.async { [self] in
            let begin = clock.now
            upstream?.announce(
                deletionOf: pending.found!.clause, in: pending.write.bucket)
            engine.record(pending.write.bucket) { [self] recording in
                searchers.submit(for: pending.owner) { [self] in
                    var pending = pending
                    do throws(ServiceFailure) {
                        try engine.advance(&pending.found!, with: recording)
                        giveOthersTime(pending, since: begin)
                    } catch {
                        answer(pending, .failure(error))
                    }
                }
            }
        }
    }

    /// Goes on with a deletion. Other stores, which make the same as this one has made since a time, get
    /// as long again, so that their writes do not wait for it.
    private func giveOthersTime(_ pending: PendingWrite, since begin: MonotonicTime) {
        guard upstream != nil else { return advance(pending) }
        thread.async(after: begin.duration(to: clock.now)) { [self] in search(pending) }
    }

    /// What a write has found, as it is now; nil inside if it is none that searches.
    ///
    /// - Returns: nil if so much has been written since that it has to search again.
    func outcomeOfSearch(
        _ pending: PendingWrite
    ) -> Result<FoundDeletion?, ServiceFailure>? {
        guard var found = pending.found, !pending.isSettled else {
            return .success(pending.found)
        }
        do throws(ServiceFailure) {
            guard pending.stay == upstream?.stay(of: found.bucket), try engine.settle(&found)
            else { return nil }
            return .success(found)
        } catch {
            return .failure(error)
        }
    }

    /// A write whose search is that of the present state, before a transaction begins; nil if it
    /// searches again or has failed. With an upstream, the transaction may begin at a later state.
    func settled(_ pending: PendingWrite) -> PendingWrite? {
        switch outcomeOfSearch(pending) {
        case .success(let found):
            guard found != nil, upstream == nil else { return pending }
            var settled = pending
            settled.found = found
            settled.isSettled = true
            return settled
        case .failure(let failure): answer(pending, .failure(failure))
        case nil: search(pending)
        }
        return nil
    }

    /// Answers a write, and ends what was begun for it.
    func answer(_ pending: PendingWrite, _ result: Result<WriteAnswer, ServiceFailure>) {
        if let found = pending.found { engine.end(found) }
        pending.completion(result)
        if pending.write.searches { searches.end() }
    }
}

/// Counts what is under way, for those who wait until nothing is.
final class UnderWayCount: Sendable {
    private let count = Mutex(0)
    private let changes = ChangeSignal()

    func begin() { count.withLock { $0 += 1 } }

    func end() {
        count.withLock { $0 -= 1 }
        changes.signal()
    }

    var isIdle: Bool { count.withLock { $0 == 0 } }

    /// Returns when nothing is under way.
    func drain() {
        while true {
            let seen = changes.count
            if isIdle { return }
            changes.wait(beyond: seen, atMost: .seconds(3_600))
        }
    }
}
