import Backend
import InMemoryEngine
import JSONText
import ObjectStore
import Objects
import Runtime
import Synchronization

/// The exports under way. Each reads a state of the store that is held for it, so that what is replaced
/// meanwhile stays on disk, in the write-ahead log, and not in memory. What that costs is bounded: by
/// how many there are, and by how much of the log one may keep.
final class Exports: Sendable {
    private struct Entry: Sendable { weak var export: OpenExport? }

    private let limits: Limits
    private let freeingThread = WorkThread("exports", .background)
    private let underWay = Mutex<[Entry]>([])

    init(limits: Limits) { self.limits = limits }

    /// Counts one more export in.
    ///
    /// - Throws: `TOO_MANY_REQUESTS` when there are as many as may be.
    func add() throws(ServiceFailure) -> OpenExport {
        let export = OpenExport(freedOn: freeingThread)
        let isTaken = underWay.withLock { entries in
            entries.removeAll { $0.export?.isUnderWay != true }
            guard entries.count < limits.exports else { return false }
            entries.append(Entry(export: export))
            return true
        }
        guard isTaken else {
            throw ServiceFailure(
                .tooManyRequests,
                "\(limits.exports) exports are under way, as many as may be at once",
                retryAfterMilliseconds: Self.retryMilliseconds)
        }
        return export
    }

    private static let retryMilliseconds = 1_000

    /// Ends the exports that keep too much of the log.
    ///
    /// - Parameter logBytes: what the log is long by now.
    func endThoseThatKeepTooMuch(logBytes: Int) {
        for export in underWay.withLock({ $0.compactMap(\.export) }) {
            export.endIfItKeeps(moreThan: limits.exportLogBytes, ofLogOf: logBytes)
        }
    }
}

/// An export until it is done, or ended for what it keeps.
final class OpenExport: BucketExport {
    private enum State: Sendable {
        /// It has its place, but nothing to read yet.
        case waiting
        case underWay(any BucketExport)
        case done
        /// Because it kept more of the log than so many bytes.
        case ended(Int)
    }

    private struct Reading: Sendable {
        var state = State.waiting
        /// Bytes of the log when it began, or later when it has been begun anew.
        var logAtBegin = 0
    }

    private let reading = Mutex(Reading())
    private let freeingThread: WorkThread

    init(freedOn thread: WorkThread) { freeingThread = thread }

    /// - Parameter logBytes: what the log is long by now.
    func begin(_ export: any BucketExport, logBytes: Int) {
        reading.withLock { $0 = Reading(state: .underWay(export), logAtBegin: logBytes) }
    }

    deinit { letGo(of: reading.withLock { $0.state }) }

    /// Whether it takes one of the places for exports.
    var isUnderWay: Bool {
        switch reading.withLock({ $0.state }) {
        case .waiting, .underWay: true
        case .done, .ended: false
        }
    }

    func next(
        maximumBytes: Int, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        switch reading.withLock({ $0.state }) {
        case .waiting, .done: return false
        case .ended(let bytes):
            throw ServiceFailure(
                .temporarilyUnavailable,
                "the export was ended: what was written meanwhile, and kept for it, passed \(bytes) "
                    + "bytes (exportLogBytes); begin it anew")
        case .underWay(let export):
            let more = try export.next(maximumBytes: maximumBytes, into: &writer)
            if !more { become(.done) }
            return more
        }
    }

    func endIfItKeeps(moreThan bytes: Int, ofLogOf logBytes: Int) {
        let isTooMuch = reading.withLock { reading in
            reading.logAtBegin = min(reading.logAtBegin, logBytes)
            return logBytes - reading.logAtBegin > bytes
        }
        if isTooMuch { become(.ended(bytes)) }
    }

    private func become(_ state: State) {
        let former = reading.withLock { reading in
            guard case .underWay = reading.state else { return State.done }
            defer { reading.state = state }
            return reading.state
        }
        letGo(of: former)
    }

    /// A connection to the store is closed with it, for which no event loop should wait.
    private func letGo(of state: State) {
        guard case .underWay(let export) = state else { return }
        freeingThread.async { withExtendedLifetime(export) {} }
    }
}

extension EmbeddedBackend {
    /// What an export reads: the documents of the state that the engine has at this moment.
    static func documents(of store: ObjectStore) throws(StoreFailure) -> any PresentDocuments {
        do {
            return FrozenDocuments(store: try store.freeze())
        } catch .displaced {
            // Nothing is written any more, so what is there stays as it is, and can be saved.
            return StoredDocuments(store: store)
        }
    }
}
