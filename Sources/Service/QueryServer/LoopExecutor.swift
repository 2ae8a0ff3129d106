import NIOCore
import Synchronization

/// Runs code of other threads on the event loops. It is closed before the loops end; whatever
/// arrives later is dropped, such as the answer to a write that a stop did not wait for.
final class LoopExecutor: Sendable {
    private let isOpen = Mutex(true)

    func execute(on eventLoop: any EventLoop, _ body: @escaping @Sendable () -> Void) {
        // Under the lock, so that nothing is in transit after `close`.
        isOpen.withLock { if $0 { eventLoop.execute(body) } }
    }

    func close() { isOpen.withLock { $0 = false } }
}
