import Synchronization

/// The bytes of writes under way, of all connections: while they fill the room no more are begun.
///
/// What is begun on several event loops at the same moment is let in, so the room may be passed by
/// one write for each of them.
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

    /// Calls `body` once, when there is room: on some thread, or at once.
    func whenOpen(_ body: @escaping @Sendable () -> Void) {
        waiting.withLock { $0.append(body) }
        if isOpen { Self.wake(waiting) }  // it may have opened before anybody was seen to wait
    }

    /// Calls `body` once, when no write is under way, not of a connection that has ended either: on some
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
