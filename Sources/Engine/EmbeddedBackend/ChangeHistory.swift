import BackendContract
import Logging
import Objects
import Runtime

/// Which changes led to a store's present state.
///
/// Each start begins a new part of the history, with a mark of its own, and notes the first change
/// of it. A backup that is restored goes on from an earlier change under a new mark. So a change
/// that it does not have, but that had the same number, is told from the one that it has.
///
/// A store with an upstream has the upstream's history, and knows no parts of it.
final class ChangeHistory: StoreHistory {
    private struct Part {
        let mark: [UInt8]
        let first: ChangeNumber

        init(mark: [UInt8], first: ChangeNumber) {
            self.mark = mark
            self.first = first
        }

        /// A part with a mark that no other has.
        init(after change: ChangeNumber) {
            var generator = SystemRandomNumberGenerator()
            mark = (0..<markBytes).map { _ in UInt8.random(in: 0...255, using: &generator) }
            first = change + 1
        }
    }

    private let store: SQLiteStore
    private let upstream: (any Upstream)?
    /// The oldest first; none if there is an upstream.
    private let parts: [Part]
    private let clock: ServiceClock

    private static let setting = "history"
    private static let markBytes = 16
    private static let partBytes = 24
    /// The parts that are remembered. They are those of the last starts.
    private static let partCount = 1_000

    /// - Parameter change: the last change of the store at this start.
    init(
        of store: SQLiteStore, from change: ChangeNumber, upstream: (any Upstream)?,
        logger: Logger, clock: ServiceClock
    ) {
        self.store = store
        self.clock = clock
        self.upstream = upstream
        guard upstream == nil else {
            parts = []
            return
        }
        let part = Part(after: change)
        do throws(StoreFailure) {
            parts = try Self.begin(part, in: store)
        } catch {
            logger.warning(
                "the start is not noted: no watch can be resumed", metadata: ["reason": "\(error)"])
            parts = [part]
        }
    }

    /// Begins a new part of a store's history, as each start does.
    ///
    /// - Parameter change: the store's last change.
    static func begin(in store: SQLiteStore, after change: ChangeNumber) throws(StoreFailure) {
        _ = try begin(Part(after: change), in: store)
    }

    private static func begin(_ part: Part, in store: SQLiteStore) throws(StoreFailure) -> [Part] {
        let former = decode(try store.setting(setting) ?? [])
        let parts = Array(former.suffix(partCount - 1)) + [part]
        try store.set(setting, to: encode(parts))
        return parts
    }

    private static func encode(_ parts: [Part]) -> [UInt8] {
        parts.flatMap { part in
            part.mark + withUnsafeBytes(of: part.first.bigEndian) { Array($0) }
        }
    }

    private static func decode(_ bytes: [UInt8]) -> [Part] {
        stride(from: 0, to: bytes.count - bytes.count % partBytes, by: partBytes).map { start in
            let number = bytes[start + markBytes..<start + partBytes]
            return Part(
                mark: Array(bytes[start..<start + markBytes]),
                first: number.reduce(0) { $0 << 8 | ChangeNumber($1) })
        }
    }

    var secret: [UInt8] { store.secret }

    var mark: [UInt8] { upstream?.history ?? parts.last!.mark }

    func contains(_ change: ChangeNumber, of mark: [UInt8]) -> Bool {
        if let upstream { return upstream.contains(change, of: mark) }
        guard let position = parts.lastIndex(where: { $0.mark == mark }) else { return false }
        return position + 1 == parts.count || change < parts[position + 1].first
    }

    func deletions(
        in bucket: BucketName, after change: ChangeNumber, atMost count: Int
    ) throws(ServiceFailure) -> [Deletion]? {
        do {
            return try store.deletions(in: bucket, after: change, atMost: count)
        } catch {
            throw ServiceFailure(error)
        }
    }

    func now() -> Int64 { clock.milliseconds() }
}
