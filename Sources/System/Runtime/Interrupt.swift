import CGlibc
import Glibc
import Synchronization

/// Tells a thread, also one that waits in poll(2), that it has to stop. It cannot be taken back.
public final class Interrupt: Sendable {
    private let isSet = Atomic(false)
    /// Readable from `raise` on. If the process has no descriptor left, it is -1, which poll(2) passes
    /// over; the thread then notices the interrupt when its wait is over.
    public let descriptor: Int32 = gb_eventfd()

    /// An interrupt that has not been raised.
    public init() {}

    deinit { close(descriptor) }

    /// Whether the thread has to stop.
    public var isRaised: Bool { isSet.load(ordering: .relaxed) }

    /// Stops the thread.
    public func raise() {
        isSet.store(true, ordering: .relaxed)
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
    }
}
