import Synchronization

/// The bytes of all connections' writes in progress: no further write starts while they reach the
/// limit.
///
/// Event loops check at the same moment without a lock, so the total may exceed the limit by one
/// write for each loop.
final class WriteRoom: Sendable {
    private let limit: Int
    private let used = Atomic(0)
    private let waiting = Mutex<[@Sendable () -> Void]>([])
    private let waitingForEmpty = Mutex<[@Sendable () -> Void]>([])

    init(bytes: Int) { limit = bytes }

    var isOpen: Bool { used.load(ordering: .sequentiallyConsistent) < limit }

    func take(_ bytes: Int) { used.add(bytes, ordering: .sequentiallyConsistent) }

    func giveBack(_ bytes: Int) {
        let left = used.subtract(bytes, ordering: .sequentiallyConsistent).newValue
        if left < limit, left + bytes >= limit { Self.wake(waiting) }
        if left == 0 { Self.wake(waitingForEmpty) }
    }

    /// Calls `body` once there is room: on some thread, or at once.
    func whenOpen(_ body: @escaping @Sendable () -> Void) {
        waiting.withLock { $0.append(body) }
        if isOpen { Self.wake(waiting) }  // it may have opened before `body` was queued
    }

    /// Calls `body` once no write is in progress, those of closed connections included: on some
    /// thread, or at once.
    func whenEmpty(_ body: @escaping @Sendable () -> Void) {
        waitingForEmpty.withLock { $0.append(body) }
        if used.load(ordering: .sequentiallyConsistent) == 0 { Self.wake(waitingForEmpty) }
    }

    private static func wake(_ waiting: borrowing Mutex<[@Sendable () -> Void]>) {
        let bodies = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for body in bodies { body() }
    }
}
