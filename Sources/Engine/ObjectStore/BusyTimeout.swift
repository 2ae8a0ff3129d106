import Glibc
import Synchronization

/// How long a statement waits for a lock that another process has on the store.
///
/// The first one waits for long. While the lock stays, those after it wait only a moment: a queue of
/// writes, or a stop, would else wait as long for each of them again.
final class BusyTimeout: Sendable {
    /// Looks at the lock, at intervals of `pause`: about three seconds, and a tenth of one.
    private static let (tries, triesWhileLocked) = (300, 10)
    private static let pause: UInt32 = 10_000

    private let isLocked = Atomic(false)

    /// Waits for a moment, unless it has been long enough.
    ///
    /// - Parameter tried: how often the statement has found the lock.
    func waits(tried: Int) -> Bool {
        let most = isLocked.load(ordering: .relaxed) ? Self.triesWhileLocked : Self.tries
        guard tried < most else {
            isLocked.store(true, ordering: .relaxed)
            return false
        }
        usleep(Self.pause)
        return true
    }

    /// A write has found no lock.
    func succeeded() { isLocked.store(false, ordering: .relaxed) }
}
