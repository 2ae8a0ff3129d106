import Backend
import Dispatch
import Objects
import Synchronization

/// The place of the one backup that is being copied: its file has a fixed name, so that a start can
/// remove what a crash has left of it, and the disk needs room for one.
final class BackupSlot: Sendable {
    private struct State {
        var current: StopSignal?
        /// Those that wait for a copy that was told to end.
        var waiting: [DispatchSemaphore] = []
    }

    private let state = Mutex(State())

    /// Takes the slot for a copy that ends when it is told to; waits for one that was told so.
    ///
    /// - Throws: `TOO_MANY_REQUESTS` while another one is being copied.
    func take(_ copy: StopSignal) throws(ServiceFailure) {
        while let ended = try taken(by: copy) { ended.wait() }
    }

    /// Puts a copy in the slot if it is free, and otherwise returns what to wait for.
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
