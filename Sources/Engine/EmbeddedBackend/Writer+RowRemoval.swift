import BackendContract
import Runtime

/// The rows that listed deletions have left.
struct RowRemovals: Sendable {
    private var deletions: [ListedDeletion] = []
    private var next = 0
    private var isFailing = false

    var isEmpty: Bool { deletions.isEmpty }

    /// The deletion whose rows are removed now, and the next of its objects.
    var current: (deletion: ListedDeletion, next: Int)? { deletions.first.map { ($0, next) } }

    /// Returns whether there were none.
    mutating func append(_ listed: [ListedDeletion]) -> Bool {
        defer { deletions += listed }
        return isEmpty && !listed.isEmpty
    }

    /// Notes a failure. Returns whether there was none before.
    mutating func fail() -> Bool {
        defer { isFailing = true }
        return !isFailing
    }

    /// Notes that the rows before an object of the current deletion are gone.
    mutating func advance(to position: Int) {
        isFailing = false
        next = position
        guard let first = deletions.first, next == first.creations.count else { return }
        deletions.removeFirst()
        next = 0
    }
}

/// Removes, turn by turn, the rows of objects that are deleted by a list. It may begin again at any
/// row.
extension Writer {
    /// The time after which a removal that failed is tried again.
    private static let removalPause = Duration.seconds(1)

    var isRemovingRows: Bool {
        removals.withLock { !$0.isEmpty } || isRemovingUpstreamRows.load(ordering: .relaxed)
    }

    func removeRows(of deletions: [ListedDeletion]) {
        if removals.withLock({ $0.append(deletions) }) { removeSomeRows() }
    }

    private func removeSomeRows() {
        betweenWrites { [self] in
            guard let (deletion, first) = removals.withLock({ $0.current }) else { return }
            do throws(StoreFailure) {
                let next = try removeRows(of: deletion, from: first)
                engine.forgetDocuments(of: deletion.creations[first..<next])
                let isDone = removals.withLock { removals in
                    removals.advance(to: next)
                    return removals.isEmpty
                }
                if !isDone { removeSomeRows() }
            } catch {
                // It is tried again all the time, so a failure is logged once.
                if removals.withLock({ $0.fail() }) {
                    logger.warning(
                        "deleted rows are kept for now", metadata: ["reason": "\(error)"])
                }
                thread.async(after: Self.removalPause) { [self] in removeSomeRows() }
            }
        }
    }

    /// Removes, turn by turn, the rows that lists of an upstream have left there, unless that is under
    /// way. Other stores may help.
    func removeUpstreamRows() {
        guard let upstream, !isRemovingUpstreamRows.exchange(true, ordering: .relaxed) else {
            return
        }
        removeSomeRows(of: upstream)
    }

    private func removeSomeRows(of upstream: any Upstream) {
        betweenWrites { [self] in
            do throws(StoreFailure) {
                if try upstream.removeListedRows() { return removeSomeRows(of: upstream) }
            } catch {
                logger.warning(
                    "deleted rows are kept for now", metadata: ["reason": "\(error)"])
            }
            isRemovingUpstreamRows.store(false, ordering: .relaxed)
        }
    }

    /// Removes as many rows as a turn has time for. Returns the first object whose row stays.
    private func removeRows(
        of deletion: ListedDeletion, from first: Int
    ) throws(StoreFailure) -> Int {
        let end = ThreadClock.deadline(after: tuning.turn)
        return try store.write { transaction in
            var next = first
            repeat {
                try transaction.removeRow(next, of: deletion)
                next += 1
            } while next < deletion.creations.count && !end.isOver
            if next == deletion.creations.count { try transaction.forget(deletion) }
            return next
        }
    }
}
