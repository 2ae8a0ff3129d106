import Backend
import Objects
import Synchronization

/// The export or backup that one connection has under way: a state kept alive between calls, until it is
/// read to its end, not used for long, or the connection ends.
public final class ExportSession: Sendable {
    enum Work: Sendable {
        case export(BucketName, any BucketExport)
        case backup(any StoreBackup)
    }

    private enum State: Sendable {
        case idle
        case underWay(Work, lastUse: ContinuousClock.Instant)
        case closed
    }

    private let state = Mutex(State.idle)

    /// A session with nothing under way.
    public init() {}

    /// Whether an export or a backup has begun and not ended.
    public var isUnderWay: Bool {
        state.withLock { if case .underWay = $0 { true } else { false } }
    }

    /// Lets go of work that has not been continued for so long.
    ///
    /// - Returns: whether some is still under way, to be looked at again.
    public func expire(after idle: Duration) -> Bool {
        change { state in
            guard case .underWay(_, let last) = state else { return false }
            guard ContinuousClock.now - last >= idle else { return true }
            state = .idle
            return false
        }
    }

    /// The connection has ended: nothing is kept for it any more, nor what a worker may begin late.
    public func close() { change { $0 = .closed } }

    func begin(_ work: Work) {
        change { state in
            if case .closed = state { return }
            state = .underWay(work, lastUse: .now)
        }
    }

    /// What is under way; asking for it is using it.
    func current() -> Work? {
        change { state in
            guard case .underWay(let work, _) = state else { return nil }
            state = .underWay(work, lastUse: .now)
            return work
        }
    }

    func end() {
        change { state in
            if case .underWay = state { state = .idle }
        }
    }

    /// What a change lets go of is freed outside of the lock.
    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, former) = state.withLock { state in
            let former = state
            return (body(&state), former)
        }
        return withExtendedLifetime(former) { result }
    }
}
