import BackendContract
import Objects
import Runtime
import Synchronization
import WireProtocol

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

extension Dispatcher {
    /// A read that has waited for a thread for too long, or whose client is gone; nil for others.
    func refused(_ request: Request, _ waiting: WaitingRead) -> ReadyRead? {
        let waited = (service.clock.nanoseconds() - waiting.begin) / 1_000_000
        guard waited > service.limits.queueMilliseconds || waiting.stop.isStopped else {
            return nil
        }
        return ReadyRead(
            request: request.refused(.overloaded(milliseconds: Int(waited))), begin: waiting.begin)
    }
}

extension RPCFailure {
    /// The refusal of a costly read that waited this long for a thread and would have waited
    /// longer.
    fileprivate static func overloaded(milliseconds: Int) -> RPCFailure {
        RPCFailure(
            ServiceFailure(
                .tooManyRequests, "the service is overloaded; nothing was done",
                retryAfterMilliseconds: milliseconds))
    }
}
