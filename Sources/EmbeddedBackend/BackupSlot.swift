import Backend
import Glibc
import Objects
import Synchronization

/// The place of the one backup that is being copied: its file has a fixed name, so that a start can
/// remove what a crash has left of it, and the disk needs room for one.
final class BackupSlot: Sendable {
    private let current = Mutex<StopSignal?>(nil)
    private static let pause: UInt32 = 2_000

    /// Takes the slot for a copy that ends when it is told to; waits for one that was told so.
    ///
    /// - Throws: `TOO_MANY_REQUESTS` while another one is being copied.
    func take(_ copy: StopSignal) throws(ServiceFailure) {
        while true {
            let other = current.withLock { current in
                defer { if current == nil { current = copy } }
                return current
            }
            guard let other else { return }
            guard other.isStopped else {
                throw ServiceFailure(
                    .tooManyRequests, "another backup is being copied; begin this one after it",
                    retryAfterMilliseconds: Self.retryMilliseconds)
            }
            usleep(Self.pause)
        }
    }

    func free() { current.withLock { $0 = nil } }

    private static let retryMilliseconds = 1_000
}
