import Dispatch
import Synchronization

/// Lets threads wait until something has changed.
///
///     let seen = changes.count
///     if !isThere() { changes.wait(beyond: seen, until: deadline) }
public final class ChangeSignal: Sendable {
    private struct State {
        var count = 0
        var waiting: [DispatchSemaphore] = []
    }

    private let state = Mutex(State())

    /// Nothing has changed yet.
    public init() {}

    /// The changes so far; to be read before what changes is looked at.
    public var count: Int { state.withLock { $0.count } }

    /// Tells all who wait that something has changed.
    public func signal() {
        let waiting = state.withLock { state in
            state.count += 1
            defer { state.waiting = [] }
            return state.waiting
        }
        for semaphore in waiting { semaphore.signal() }
    }

    /// Returns when there have been more changes than `count`, or at a time.
    public func wait(beyond count: Int, until end: ContinuousClock.Instant) {
        let semaphore = DispatchSemaphore(value: 0)
        let waits = state.withLock { state in
            if state.count == count { state.waiting.append(semaphore) }
            return state.count == count
        }
        guard waits else { return }
        let microseconds = Int(max(.zero, end - .now) / .microseconds(1))
        if semaphore.wait(timeout: .now() + .microseconds(microseconds)) == .timedOut {
            state.withLock { $0.waiting.removeAll { $0 === semaphore } }
        }
    }
}
