import BackendContract
import Dispatch
import Glibc
import Objects
import Runtime
import Synchronization

/// A backup in progress. Its own thread copies the store into a file beside the store; that file is
/// then read piece by piece. The file is unlinked as soon as it is complete, so the system removes
/// it with this object.
final class BackupJob: StoreBackup {
    private enum State: Sendable {
        case copying
        /// The copy is complete; the value is the descriptor to read from.
        case copied(Int32)
        case failed(StoreFailure)
    }

    private let state = Mutex(State.copying)
    private let stop: StopSignal
    private let isCopied = DispatchSemaphore(value: 0)

    /// The longest time that a call of `next` waits before it returns without bytes.
    private static let pollInterval = DispatchTimeInterval.milliseconds(250)

    static func path(besides store: String) -> String { store + "-backup" }

    /// - Parameters:
    ///   - slot: a slot that has been taken. It is freed when the copy ends.
    ///   - stop: ends the copying.
    init(of store: FrozenStore, in slot: BackupSlot, until stop: StopSignal) {
        self.stop = stop
        let path = Self.path(besides: store.path)
        WorkThread("backup", .background).async { [weak self, stop] in
            let state = Self.copy(store, to: path, stop)
            slot.free()
            guard let self else {
                if case .copied(let descriptor) = state { close(descriptor) }
                return
            }
            self.state.withLock { $0 = state }
            isCopied.signal()
        }
    }

    deinit {
        stop.stop()
        state.withLock {
            if case .copied(let descriptor) = $0 { close(descriptor) }
        }
    }

    private static func copy(
        _ store: FrozenStore, to path: String, _ stop: StopSignal
    ) -> State {
        do throws(StoreFailure) {
            try store.copy(to: path, until: stop)
            defer { unlink(path) }
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                throw .failed("\(path) cannot be read: \(String(cString: strerror(errno)))")
            }
            return .copied(descriptor)
        } catch {
            return .failed(error)
        }
    }

    func next(maximumBytes: Int) throws(ServiceFailure) -> [UInt8]? {
        switch state.withLock({ $0 }) {
        case .failed(let failure): throw ServiceFailure(failure)
        case .copying:
            _ = isCopied.wait(timeout: .now() + Self.pollInterval)
            return []
        case .copied(let descriptor):
            var bytes = [UInt8](repeating: 0, count: maximumBytes)
            let count = read(descriptor, &bytes, maximumBytes)
            guard count >= 0 else {
                throw ServiceFailure(
                    .undefined, "the copy cannot be read: \(String(cString: strerror(errno)))")
            }
            return count == 0 ? nil : Array(bytes[..<count])
        }
    }
}
