import Dispatch
import Synchronization

/// Lets threads wait for a change.
///
///     let seen = changes.count
///     if !isThere() { changes.wait(beyond: seen, until: deadline) }
public final class ChangeSignal: Sendable {
    private struct State {
        var count = 0
        var waiting: [DispatchSemaphore] = []
    }

    private let state = Mutex(State())

    /// A signal without changes so far.
    public init() {}

    /// The number of changes so far. It has to be read before the state that changes is examined.
    public var count: Int { state.withLock { $0.count } }

    /// Notifies all waiting threads of a change.
    public func signal() {
        let waiting = state.withLock { state in
            state.count += 1
            defer { state.waiting = [] }
            return state.waiting
        }
        for semaphore in waiting { semaphore.signal() }
    }

    /// Returns when the number of changes exceeds `count`, or at a time.
    ///
    /// - Parameter end: nanoseconds of the monotonic clock.
    public func wait(beyond count: Int, until end: Int64) {
        let semaphore = DispatchSemaphore(value: 0)
        let waits = state.withLock { state in
            if state.count == count { state.waiting.append(semaphore) }
            return state.count == count
        }
        guard waits else { return }
        let nanoseconds = Int(max(0, end - monotonicNanoseconds()))
        if semaphore.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .timedOut {
            state.withLock { $0.waiting.removeAll { $0 === semaphore } }
        }
    }
}
