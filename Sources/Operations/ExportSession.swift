import Backend
import Objects
import Synchronization

/// The export that one connection has under way: a state of a bucket kept alive between calls.
public final class ExportSession: Sendable {
    private struct UnderWay {
        let bucket: BucketName
        let export: any BucketExport
        var lastUse: ContinuousClock.Instant
    }

    private let underWay = Mutex<UnderWay?>(nil)

    public init() {}

    /// Lets go of an export that has not been continued for so long: it keeps superseded documents.
    ///
    /// - Returns: whether one is still under way, to be looked at again.
    public func expire(after idle: Duration) -> Bool {
        underWay.withLock { current in
            if let last = current?.lastUse, ContinuousClock.now - last >= idle { current = nil }
            return current != nil
        }
    }

    func begin(_ bucket: BucketName, _ export: any BucketExport) {
        underWay.withLock {
            $0 = UnderWay(bucket: bucket, export: export, lastUse: .now)
        }
    }

    func current(of bucket: BucketName) -> (any BucketExport)? {
        underWay.withLock { current in
            guard current?.bucket == bucket else { return nil }
            current?.lastUse = .now
            return current?.export
        }
    }

    func end() { underWay.withLock { $0 = nil } }
}
