import Dispatch
import Synchronization

/// Lets threads wait for a change.
///
///     let seen = changes.count
///     if !isThere() { changes.wait(beyond: seen, atMost: timeLeft) }
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

    /// Returns when the number of changes exceeds `count`, or after some time.
    public func wait(beyond count: Int, atMost time: Duration) {
        let semaphore = DispatchSemaphore(value: 0)
        let waits = state.withLock { state in
            if state.count == count { state.waiting.append(semaphore) }
            return state.count == count
        }
        guard waits else { return }
        if semaphore.wait(timeout: .now() + .nanoseconds(Int(time.nanoseconds))) == .timedOut {
            state.withLock { $0.waiting.removeAll { $0 === semaphore } }
        }
    }
}
