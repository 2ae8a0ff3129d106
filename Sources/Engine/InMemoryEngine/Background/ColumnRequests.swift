import Backend
import Objects
import Runtime
import Synchronization

/// A field of a bucket that has a column, or is to have one.
public struct ColumnName: Hashable, Sendable {
    /// The bucket's full name.
    public let bucket: BucketName
    /// The path of the field.
    public let field: FieldPath

    /// A column by its bucket and field, neither of which has to exist.
    public init(bucket: BucketName, field: FieldPath) {
        self.bucket = bucket
        self.field = field
    }
}

/// Columns and orders that queries have asked for: which there are, which wait to be made, and which
/// are refused for a while. `ColumnJob` and `OrderJob` make them, one after the other.
final class ColumnRequests: Sendable {
    /// What is to be made next, of one bucket.
    enum Item {
        case columns([FieldPath])
        case order(FieldPath)
    }

    private struct State {
        /// Columns that are there, are being made, or wait for it; true where no object has the field.
        var columns: [ColumnName: Bool] = [:]
        /// Orders that are being made or wait for it.
        var orders: Set<ColumnName> = []
        var refused: [ColumnName: ContinuousClock.Instant] = [:]
        var waiting: [(name: ColumnName, isOrder: Bool)] = []
        /// Columns asked for in the minute that began at `minute`, by who asked.
        var asked: [String?: Int] = [:]
        var minute = ContinuousClock.now
        var isMaking = false
        var hasChanged = false

        /// Has a column wait to be made, unless it is there or does already.
        mutating func add(_ name: ColumnName) -> Bool {
            guard columns[name] == nil else { return false }
            columns[name] = false
            waiting.append((name, isOrder: false))
            return true
        }
    }

    private let state = Mutex(State())
    /// Columns have come to the published state, or will not be made.
    let changes = ChangeSignal()
    private let columnsPerMinute: Int
    private let due: @Sendable () -> Void

    private let refusal: Duration
    /// So many refusals are remembered before those that are over are forgotten.
    private static let manyRefused = 1_000
    /// So many columns are made in one go: their values are put in together.
    private static let columnsAtOnce = 16

    /// - Parameters:
    ///   - columnsPerMinute: what one principal may ask for.
    ///   - refusal: how long a column that did not fit is not tried again.
    ///   - due: called on any thread when something is to be made.
    init(columnsPerMinute: Int, refusal: Duration, due: @escaping @Sendable () -> Void) {
        self.columnsPerMinute = columnsPerMinute
        self.refusal = refusal
        self.due = due
    }

    /// Whether nothing is being made or waits for it.
    var isIdle: Bool { state.withLock { !$0.isMaking && $0.waiting.isEmpty } }

    // MARK: Asking, on any thread

    /// Whether columns that are not there yet all will be.
    func isMaking(_ fields: Set<FieldPath>, of bucket: BucketName) -> Bool {
        guard !fields.isEmpty else { return false }
        return state.withLock { state in
            fields.allSatisfy { state.columns[ColumnName(bucket: bucket, field: $0)] != nil }
        }
    }

    /// Has columns made, as far as the bound of who asks allows.
    func want(
        _ fields: some Collection<FieldPath>, of bucket: BucketName, for principal: String?
    ) {
        let isNew = state.withLock { state in
            let now = ContinuousClock.now
            if now - state.minute >= .seconds(60) { (state.asked, state.minute) = ([:], now) }
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

    /// Has columns made again that were there before the start.
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

    // MARK: The writer's side

    /// What is to be made next, if nothing is being made: of the first bucket for which something is
    /// wanted and nothing under way. Whoever gets something calls `ended` when that is over.
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

    /// Says that what was begun is over.
    func ended() { state.withLock { $0.isMaking = false } }

    /// The columns that were asked for and not refused.
    var columnNames: [ColumnName] { state.withLock { Array($0.columns.keys) } }

    /// The columns that are worth remembering, if they are others than at the last call.
    func takeChangedNames() -> [ColumnName]? {
        state.withLock { state in
            guard state.hasChanged else { return nil }
            state.hasChanged = false
            return state.columns.filter { !$0.value }.map(\.key)
        }
    }

    /// - Parameter isVacant: whether no object has the field.
    func made(_ name: ColumnName, isVacant: Bool) {
        state.withLock { state in
            state.columns[name] = isVacant
            state.hasChanged = true
        }
    }

    /// Lets what cannot be made be asked for again.
    func forget(_ item: Item, of bucket: BucketName) {
        switch item {
        case .order(let field): forgetOrder(ColumnName(bucket: bucket, field: field))
        case .columns(let fields):
            for field in fields {
                forget(ColumnName(bucket: bucket, field: field), refused: false)
            }
        }
    }

    /// Lets everything of a bucket be asked for again.
    func forget(_ bucket: BucketName) {
        for columnName in columnNames where columnName.bucket == bucket {
            forget(columnName, refused: false)
        }
    }

    /// Lets a column be asked for again; one that did not fit not at once.
    func forget(_ columnName: ColumnName, refused: Bool) {
        state.withLock { state in
            state.columns[columnName] = nil
            state.refused[columnName] = refused ? .now + refusal : nil
            state.waiting.removeAll { $0.name == columnName && !$0.isOrder }
            state.hasChanged = true
        }
        changes.signal()
    }

    /// Lets an order be asked for again.
    func forgetOrder(_ columnName: ColumnName) {
        state.withLock { _ = $0.orders.remove(columnName) }
    }
}
