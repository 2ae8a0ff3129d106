import BackendContract
import InMemoryEngine
import JSONText
import Objects
import Runtime
import Synchronization

/// The exports in progress. Each reads a pinned state of the store, so data that is replaced
/// meanwhile stays on disk, in the write-ahead log, and not in memory. Two limits bound the cost:
/// the number of exports, and the part of the log that one export may keep.
final class Exports: Sendable {
    private struct Entry: Sendable { weak var export: OpenExport? }

    private let limits: Limits
    private let freeingThread = WorkThread("exports", .background)
    private let underWay = Mutex<[Entry]>([])

    init(limits: Limits) { self.limits = limits }

    /// Registers one more export.
    ///
    /// - Throws: `TOO_MANY_REQUESTS` when the number of exports has reached its limit.
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
    /// - Parameter logBytes: the present length of the log.
    func endThoseThatKeepTooMuch(logBytes: Int) {
        for export in underWay.withLock({ $0.compactMap(\.export) }) {
            export.endIfItKeeps(moreThan: limits.exportLogBytes, ofLogOf: logBytes)
        }
    }
}

/// An export until it is complete, or until it is ended because it keeps too much of the log.
final class OpenExport: BucketExport {
    private enum State: Sendable {
        /// The export is registered, but has nothing to read yet.
        case waiting
        case underWay(any BucketExport)
        case done
        /// The export was ended because it kept more than this many bytes of the log.
        case ended(Int)
    }

    private struct Reading: Sendable {
        var state = State.waiting
        /// The length of the log when the export began, or when the log was restarted after that.
        var logAtBegin = 0
    }

    private let reading = Mutex(Reading())
    private let freeingThread: WorkThread

    init(freedOn thread: WorkThread) { freeingThread = thread }

    /// - Parameter logBytes: the present length of the log.
    func begin(_ export: any BucketExport, logBytes: Int) {
        reading.withLock { $0 = Reading(state: .underWay(export), logAtBegin: logBytes) }
    }

    deinit { letGo(of: reading.withLock { $0.state }) }

    /// Whether the export counts towards the limit of exports.
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

    /// Releases a state on another thread. That closes a connection to the store, and no event loop
    /// should wait for it.
    private func letGo(of state: State) {
        guard case .underWay(let export) = state else { return }
        freeingThread.async { withExtendedLifetime(export) {} }
    }
}

extension SQLiteBackend {
    /// The documents that an export reads, at the state that the engine has now.
    static func documents(of store: SQLiteStore) throws(StoreFailure) -> any PresentDocuments {
        do {
            return FrozenDocuments(store: try store.freeze())
        } catch .displaced {
            // Nothing is written any more, so the present data stays unchanged and can be saved.
            return StoredDocuments(store: store)
        }
    }
}
