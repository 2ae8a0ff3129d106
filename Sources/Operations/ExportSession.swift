import Backend
import Objects
import Synchronization

/// The export or backup that one connection has under way: a state kept alive between calls.
public final class ExportSession: Sendable {
    enum Work: Sendable {
        case export(BucketName, any BucketExport)
        case backup(any StoreBackup)
    }

    private struct UnderWay {
        let work: Work
        var lastUse: ContinuousClock.Instant
    }

    private let underWay = Mutex<UnderWay?>(nil)

    public init() {}

    /// Lets go of work that has not been continued for so long: it keeps superseded documents.
    ///
    /// - Returns: whether some is still under way, to be looked at again.
    public func expire(after idle: Duration) -> Bool {
        underWay.withLock { current in
            if let last = current?.lastUse, ContinuousClock.now - last >= idle { current = nil }
            return current != nil
        }
    }

    func begin(_ work: Work) { underWay.withLock { $0 = UnderWay(work: work, lastUse: .now) } }

    /// What is under way; asking for it is using it.
    func current() -> Work? {
        underWay.withLock { current in
            current?.lastUse = .now
            return current?.work
        }
    }

    func end() { underWay.withLock { $0 = nil } }
}
