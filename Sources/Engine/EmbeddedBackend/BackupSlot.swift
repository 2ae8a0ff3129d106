import BackendContract
import Dispatch
import Objects
import Synchronization

/// The slot of the one backup that is being copied. The file of the copy has a fixed name, so that
/// a start can remove what a crash has left behind, and so that the disk needs room for only one
/// copy.
final class BackupSlot: Sendable {
    private struct State {
        var current: StopSignal?
        /// Callers that wait for a stopped copy to end.
        var waiting: [DispatchSemaphore] = []
    }

    private let state = Mutex(State())

    /// Takes the slot for a copy that ends when `copy` is given. If the slot's present copy has
    /// been stopped, this waits for its end.
    ///
    /// - Throws: `TOO_MANY_REQUESTS` while another backup is being copied.
    func take(_ copy: StopSignal) throws(ServiceFailure) {
        while let ended = try taken(by: copy) { ended.wait() }
    }

    /// Puts a copy into the slot if the slot is free. Otherwise it returns the semaphore to wait
    /// for.
    private func taken(by copy: StopSignal) throws(ServiceFailure) -> DispatchSemaphore? {
        try state.withLock { state throws(ServiceFailure) in
            guard let current = state.current else {
                state.current = copy
                return nil
            }
            guard current.isStopped else {
                throw ServiceFailure(
                    .tooManyRequests, "another backup is being copied; begin this one after it",
                    retryAfterMilliseconds: Self.retryMilliseconds)
            }
            let ended = DispatchSemaphore(value: 0)
            state.waiting.append(ended)
            return ended
        }
    }

    func free() {
        let waiting = state.withLock { state in
            defer { state = State() }
            return state.waiting
        }
        for ended in waiting { ended.signal() }
    }

    private static let retryMilliseconds = 1_000
}
