import Backend
import Synchronization

/// A read that waits for a worker thread, or runs on one.
///
/// A prepared read holds the state that it answers from. It is dropped when it has waited for too
/// long, or its client is gone, not only when a thread comes to it.
final class WaitingRead: Sendable {
    /// When its turn came, by the monotonic clock.
    let begin: Int64
    /// Tells the run that nobody wants its answer any more.
    let stop = StopSignal()
    private let prepared: Mutex<ReadyRead?>

    /// - Parameter prepared: nil: it is prepared on the thread.
    init(_ prepared: ReadyRead?, since begin: Int64) {
        self.prepared = Mutex(prepared)
        self.begin = begin
    }

    /// The prepared read, once.
    func take() -> ReadyRead? {
        prepared.withLock { prepared in
            defer { prepared = nil }
            return prepared
        }
    }

    /// Ends it: what waits is dropped, what runs is told to end.
    func end() {
        stop.stop()
        _ = take()
    }
}
