import Glibc
import Synchronization

/// How long a statement waits for a lock that another process holds on the store.
///
/// The first statement waits long. While the lock remains, later statements wait only briefly;
/// otherwise a queue of writes, or a stop, would wait the full time for each of them.
final class BusyTimeout: Sendable {
    /// The number of attempts at intervals of `pause`: about three seconds in total, or a tenth of
    /// a second.
    private static let (tries, triesWhileLocked) = (300, 10)
    private static let pause: UInt32 = 10_000

    private let isLocked = Atomic(false)

    /// Waits for a moment, unless the statement has waited long enough.
    ///
    /// - Parameter tried: how often the statement has found the lock held.
    func waits(tried: Int) -> Bool {
        let most = isLocked.load(ordering: .relaxed) ? Self.triesWhileLocked : Self.tries
        guard tried < most else {
            isLocked.store(true, ordering: .relaxed)
            return false
        }
        usleep(Self.pause)
        return true
    }

    /// Notes that a write has found no lock.
    func succeeded() { isLocked.store(false, ordering: .relaxed) }
}
