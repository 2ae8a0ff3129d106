import BackendContract
import Objects
import Runtime
import Synchronization

/// The export or backup in progress on one connection. Its snapshot is kept between calls until it
/// has been read to the end, has been idle for too long, or the connection ends.
public final class ExportSession: Sendable {
    enum Work: Sendable {
        case export(BucketName, any BucketExport)
        case backup(any StoreBackup)
    }

    private enum State: Sendable {
        case idle
        case underWay(Work, lastUse: MonotonicTime, ServiceClock)
        case closed
    }

    private let state = Mutex(State.idle)

    /// A session with nothing in progress.
    public init() {}

    /// Whether an export or a backup is in progress.
    public var isUnderWay: Bool {
        state.withLock { if case .underWay = $0 { true } else { false } }
    }

    /// Ends work that has been idle for `idle`.
    ///
    /// - Returns: whether work is still in progress, so that another check is needed.
    public func expire(after idle: Duration) -> Bool {
        change { state in
            guard case .underWay(_, let last, let clock) = state else { return false }
            guard last.duration(to: clock.now) >= idle else { return true }
            state = .idle
            return false
        }
    }

    /// Ends the session with its connection. Work that a worker thread begins later is dropped.
    public func close() { change { $0 = .closed } }

    func begin(_ work: Work, by clock: ServiceClock) {
        change { state in
            if case .closed = state { return }
            state = .underWay(work, lastUse: clock.now, clock)
        }
    }

    /// The work in progress; the call counts as a use.
    func current() -> Work? {
        change { state in
            guard case .underWay(let work, _, let clock) = state else { return nil }
            state = .underWay(work, lastUse: clock.now, clock)
            return work
        }
    }

    func end() {
        change { state in
            if case .underWay = state { state = .idle }
        }
    }

    /// Changes the state. The former one is freed outside the lock.
    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, former) = state.withLock { state in
            let former = state
            return (body(&state), former)
        }
        return withExtendedLifetime(former) { result }
    }
}
