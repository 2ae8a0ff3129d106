import BackendContract
import Objects
import Runtime
import Synchronization

/// A field of a bucket that has a column or is requested to have one.
public struct ColumnName: Hashable, Sendable {
    /// The bucket's full name.
    public let bucket: BucketName
    /// The path of the field.
    public let field: FieldPath

    /// Names a column. Neither the bucket nor the field has to exist.
    public init(bucket: BucketName, field: FieldPath) {
        self.bucket = bucket
        self.field = field
    }
}

/// The columns and orders that queries have requested: those that exist, those that wait to be
/// built, and those that are refused for a while. `ColumnJob` and `OrderJob` build them one after
/// the other.
final class ColumnRequests: Sendable {
    /// The next thing to build in one bucket.
    enum Item {
        case columns([FieldPath])
        case order(FieldPath)
    }

    /// How far a column is. It is vacant if no object has the field.
    private enum Progress {
        case wanted
        case installed(isVacant: Bool)
        case published(isVacant: Bool)
    }

    private struct State {
        var columns: [ColumnName: Progress] = [:]
        /// Orders that are being built or wait to be built.
        var orders: Set<ColumnName> = []
        var refused: [ColumnName: MonotonicTime] = [:]
        var waiting: [(name: ColumnName, isOrder: Bool)] = []
        /// The number of columns that each principal has requested in the minute that began at
        /// `minute`.
        var asked: [String?: Int] = [:]
        var minute: MonotonicTime
        var isMaking = false
        var hasChanged = false

        /// Queues a column, unless it exists or is already queued.
        mutating func add(_ name: ColumnName) -> Bool {
            guard columns[name] == nil else { return false }
            columns[name] = .wanted
            waiting.append((name, isOrder: false))
            return true
        }
    }

    private let state: Mutex<State>
    /// Signalled when columns have been published, or will not be built.
    let changes = ChangeSignal()
    private let columnsPerMinute: Int
    private let due: @Sendable () -> Void

    private let refusal: Duration
    private let clock: ServiceClock
    /// When more refusals than this are stored, expired ones are removed.
    private static let manyRefused = 1_000
    /// The number of columns that one job builds. Their values are inserted together.
    private static let columnsAtOnce = 16

    /// - Parameters:
    ///   - columnsPerMinute: the number of columns that one principal may request in a minute.
    ///   - refusal: the time before a column that did not fit is tried again.
    ///   - due: called on any thread when there is something to build.
    init(
        columnsPerMinute: Int, refusal: Duration, clock: ServiceClock,
        due: @escaping @Sendable () -> Void
    ) {
        state = Mutex(State(minute: clock.now))
        self.columnsPerMinute = columnsPerMinute
        self.refusal = refusal
        self.clock = clock
        self.due = due
    }

    /// Whether nothing is being built or waits to be built.
    var isIdle: Bool { state.withLock { !$0.isMaking && $0.waiting.isEmpty } }

    // MARK: Requests, on any thread

    /// Whether each of these columns will be published. One that was, and of which a value is
    /// unknown now, will not.
    func isMaking(_ fields: Set<FieldPath>, of bucket: BucketName) -> Bool {
        guard !fields.isEmpty else { return false }
        return state.withLock { state in
            fields.allSatisfy { field in
                switch state.columns[ColumnName(bucket: bucket, field: field)] {
                case .wanted, .installed: true
                case .published, nil: false
                }
            }
        }
    }

    /// Requests columns, within the limit of the principal.
    func want(
        _ fields: some Collection<FieldPath>, of bucket: BucketName, for principal: String?
    ) {
        let isNew = state.withLock { state in
            let now = clock.now
            if state.minute.duration(to: now) >= .seconds(60) {
                (state.asked, state.minute) = ([:], now)
            }
            if state.refused.count > Self.manyRefused {
                state.refused = state.refused.filter { now < $0.value }
            }
            let before = state.waiting.count
            for field in fields {
                let name = ColumnName(bucket: bucket, field: field)
                guard state.asked[principal, default: 0] < columnsPerMinute else { break }
                if let until = state.refused[name], now < until { continue }
                if state.add(name) { state.asked[principal, default: 0] += 1 }
            }
            return state.waiting.count > before
        }
        if isNew { due() }
    }

    /// Requests the columns that existed before the restart.
    func want(remembered names: [ColumnName]) {
        state.withLock { state in
            for name in names { _ = state.add(name) }
        }
        if !names.isEmpty { due() }
    }

    func wantOrder(of name: ColumnName) {
        let isNew = state.withLock { state in
            guard state.orders.insert(name).inserted else { return false }
            state.waiting.append((name, isOrder: true))
            return true
        }
        if isNew { due() }
    }

    // MARK: For the writer

    /// The next thing to build, if nothing is being built: that of the first bucket with a request
    /// and without a running job. The caller has to call `ended` when the job is over.
    func next(where isBusy: (BucketName) -> Bool) -> (BucketName, Item)? {
        state.withLock { state in
            guard !state.isMaking,
                let first = state.waiting.first(where: { !isBusy($0.name.bucket) })
            else { return nil }
            let bucket = first.name.bucket
            var fields: [FieldPath] = []
            state.waiting.removeAll { item in
                guard item.name.bucket == bucket, item.isOrder == first.isOrder,
                    fields.count < (first.isOrder ? 1 : Self.columnsAtOnce)
                else { return false }
                fields.append(item.name.field)
                return true
            }
            state.isMaking = true
            return (bucket, first.isOrder ? .order(fields[0]) : .columns(fields))
        }
    }

    /// Notes that the current build is over.
    func ended() { state.withLock { $0.isMaking = false } }

    /// The columns that were requested and not refused.
    var columnNames: [ColumnName] { state.withLock { Array($0.columns.keys) } }

    /// The columns worth remembering, if they have changed since the last call.
    func takeChangedNames() -> [ColumnName]? {
        state.withLock { state in
            guard state.hasChanged else { return nil }
            state.hasChanged = false
            return state.columns.compactMap { name, progress in
                switch progress {
                case .wanted, .installed(false), .published(false): name
                case .installed(true), .published(true): nil
                }
            }
        }
    }

    /// Notes that the next snapshot has a column.
    ///
    /// - Parameter isVacant: whether no object has the field.
    func installed(_ name: ColumnName, isVacant: Bool) {
        state.withLock { state in
            state.columns[name] = .installed(isVacant: isVacant)
            state.hasChanged = true
        }
    }

    /// Notes that readers see every installed column.
    func published() {
        state.withLock { state in
            for (name, progress) in state.columns {
                if case .installed(let isVacant) = progress {
                    state.columns[name] = .published(isVacant: isVacant)
                }
            }
        }
        changes.signal()
    }

    /// Allows a new request for something that cannot be built now.
    func forget(_ item: Item, of bucket: BucketName) {
        switch item {
        case .order(let field): forgetOrder(ColumnName(bucket: bucket, field: field))
        case .columns(let fields):
            for field in fields {
                forget(ColumnName(bucket: bucket, field: field), refused: false)
            }
        }
    }

    /// Allows new requests for everything in a bucket.
    func forget(_ bucket: BucketName) {
        for columnName in columnNames where columnName.bucket == bucket {
            forget(columnName, refused: false)
        }
    }

    /// Allows a new request for a column. A column that did not fit is refused for a while.
    func forget(_ columnName: ColumnName, refused: Bool) {
        state.withLock { state in
            state.columns[columnName] = nil
            state.refused[columnName] = refused ? clock.now.advanced(by: refusal) : nil
            state.waiting.removeAll { $0.name == columnName && !$0.isOrder }
            state.hasChanged = true
        }
        changes.signal()
    }

    /// Allows a new request for an order.
    func forgetOrder(_ columnName: ColumnName) {
        state.withLock { _ = $0.orders.remove(columnName) }
    }
}
