import NIOCore
import Synchronization

/// The way from other threads to the event loops, which is closed before they end: what comes later,
/// such as the answer to a write that a stop did not wait for, is for nobody.
final class LoopExecutor: Sendable {
    private let isOpen = Mutex(true)

    func execute(on eventLoop: any EventLoop, _ body: @escaping @Sendable () -> Void) {
        // Under the lock, so that nothing is on its way when this has been closed.
        isOpen.withLock { if $0 { eventLoop.execute(body) } }
    }

    func close() { isOpen.withLock { $0 = false } }
}
