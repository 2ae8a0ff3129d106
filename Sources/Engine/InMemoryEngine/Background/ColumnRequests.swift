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

/// The columns and orders that queries have requested, those that exist, and the reads that wait for
/// some. `ColumnJob` and `OrderJob` build them.
final class ColumnRequests: Sendable {
    private struct State {
        var stages = BuildStages()
        var waits = ColumnWaits()
        var budgets: ColumnBudgets
        var uses = ColumnUses()
        var hasChanged = false
        var isStopped = false

        /// Ends the waits for columns of a bucket that are not on their way any more.
        mutating func takeReady(of bucket: BucketName) -> [ColumnWaits.Ready] {
            let stages = stages
            return waits.take(of: bucket) { stages.isUnderWay($0, of: bucket) }
        }
    }

    private let state: Mutex<State>
    /// Calls those that have waited.
    private let callers = WorkThread("column waits", .costlyReads)
    private let columnsPerMinute: Int
    private let due: @Sendable () -> Void
    private let refusal: Duration
    private let clock: ServiceClock

    /// - Parameters:
    ///   - columnsPerMinute: the number of columns that one principal may request in a minute.
    ///   - refusal: the time before a column that did not fit is tried again.
    ///   - due: called on any thread when there is something to build.
    init(
        columnsPerMinute: Int, refusal: Duration, clock: ServiceClock,
        due: @escaping @Sendable () -> Void
    ) {
        state = Mutex(State(budgets: ColumnBudgets(at: clock.now)))
        self.columnsPerMinute = columnsPerMinute
        self.refusal = refusal
        self.clock = clock
        self.due = due
    }

    /// Whether nothing is being built or waits to be built.
    var isIdle: Bool { state.withLock { $0.stages.isIdle } }

    /// The number of reads that wait.
    var waitCount: Int { state.withLock { $0.waits.count } }

    // MARK: Requests, on any thread

    /// Requests columns, within the limit of the principal.
    func want(
        _ fields: some Collection<FieldPath>, of bucket: BucketName, for principal: String?
    ) {
        let isNew = state.withLock { state in
            let now = clock.now
            if state.budgets.renew(at: now) { state.stages.forgetRefusals(before: now) }
            var isNew = false
            for field in fields {
                guard state.budgets.hasRoom(for: principal, limit: columnsPerMinute) else { break }
                guard state.stages.want(.column(field), of: bucket, isRemembered: false, at: now)
                else { continue }
                isNew = true
                state.hasChanged = true
                state.budgets.charge(principal)
                state.uses.note([ColumnName(bucket: bucket, field: field)])
            }
            return isNew
        }
        if isNew { due() }
    }

    /// Requests the columns that existed before the restart, in this order.
    func want(remembered names: [ColumnName]) {
        state.withLock { state in
            for name in names {
                _ = state.stages.want(
                    .column(name.field), of: name.bucket, isRemembered: true, at: clock.now)
            }
            for name in names.reversed() { state.uses.note([name]) }
        }
        if !names.isEmpty { due() }
    }

    func wantOrder(of name: ColumnName) {
        let isNew = state.withLock {
            $0.stages.want(.order(name.field), of: name.bucket, isRemembered: false, at: clock.now)
        }
        if isNew { due() }
    }

    /// Whether columns of a bucket wait to be built.
    func wantsColumns(of bucket: BucketName) -> Bool {
        state.withLock { $0.stages.wantsColumns(of: bucket) }
    }

    /// Whether each of these columns will be published, unless it turns out not to fit. One that was
    /// published, and of which a value is unknown now, will not.
    func areUnderWay(_ fields: Set<FieldPath>, of bucket: BucketName) -> Bool {
        state.withLock { state in
            fields.allSatisfy { state.stages.isUnderWay($0, of: bucket) }
        }
    }

    // MARK: Reads that wait, on any thread

    /// Waits until columns are published or turn out not to be, unless one of them is neither being
    /// built nor going to be.
    ///
    /// - Parameters:
    ///   - end: when the wait is over in any case.
    ///   - stop: ends the wait; nothing of it is left then.
    ///   - ready: if the result is true, called once when the wait has ended; with the reason if it
    ///     was in vain. A column that was published may be gone again.
    func wait(
        for fields: Set<FieldPath>, of bucket: BucketName, until end: MonotonicTime,
        _ stop: StopSignal, _ ready: @escaping ColumnWaits.Ready
    ) -> Bool {
        let number = state.withLock { state -> Int? in
            let stages = state.stages
            guard !state.isStopped, fields.allSatisfy({ stages.isUnderWay($0, of: bucket) }) else {
                return nil
            }
            return state.waits.add(for: fields, of: bucket, until: end, ready)
        }
        guard let number else { return false }
        stop.whenStopped { [self] in
            change { state in state.waits.take(number, of: bucket).map { [$0] } ?? [] }
        }
        return true
    }

    /// Ends the waits whose time is over. It should be called from time to time.
    func endOverdueWaits() {
        change(telling: .columnsNotBuilt) { $0.waits.takeOverdue(at: clock.now) }
    }

    /// Ends all waits. From now on nothing is built, and nothing of the list is forgotten.
    func stop() {
        change(telling: .stopping) { state in
            state.isStopped = true
            return state.waits.takeAll()
        }
    }

    /// Changes the state, and calls those that need not wait any more.
    private func change(
        telling failure: ServiceFailure? = nil, _ body: (inout State) -> [ColumnWaits.Ready]
    ) {
        let ready = state.withLock { body(&$0) }
        guard !ready.isEmpty else { return }
        callers.async { for ready in ready { ready(failure) } }
    }

    /// Changes the stages of a bucket's parts.
    private func change(_ bucket: BucketName, _ body: (inout BuildStages) -> Void) {
        change { state in
            body(&state.stages)
            state.hasChanged = true
            return state.takeReady(of: bucket)
        }
    }

    // MARK: For the writer

    /// Takes what is to be built next; see `BuildStages.next`. The caller has to call `leave` when
    /// its thread is free again. The job ends with `installed`, `refused`, `finishedOrder` or
    /// `giveUp`.
    func next(
        where isFree: (BucketName) -> Bool, cost: (BucketName) -> Int
    ) -> BuildStages.Build? {
        state.withLock { $0.isStopped ? nil : $0.stages.next(where: isFree, cost: cost) }
    }

    /// Notes that the thread of a build is free again.
    func leave(_ ticket: BuildStages.Ticket) { state.withLock { $0.stages.leave(ticket) } }

    /// Notes that the next snapshot has a column.
    ///
    /// - Parameter isVacant: whether no object has the field.
    func installed(_ ticket: BuildStages.Ticket, _ name: ColumnName, isVacant: Bool) {
        change(name.bucket) {
            $0.finish(
                ticket, .column(name.field), of: name.bucket, as: .installed(isVacant: isVacant))
        }
    }

    /// Notes that a column does not fit.
    func refused(_ ticket: BuildStages.Ticket, _ name: ColumnName) {
        let until = clock.now.advanced(by: refusal)
        change(name.bucket) {
            $0.finish(ticket, .column(name.field), of: name.bucket, as: .refused(until: until))
        }
    }

    /// Notes that an order has been built.
    func finishedOrder(_ ticket: BuildStages.Ticket, _ name: ColumnName) {
        change(name.bucket) { $0.finish(ticket, .order(name.field), of: name.bucket, as: nil) }
    }

    /// Ends a build of which nothing comes.
    ///
    /// - Parameter again: whether it is to begin anew, with what is wanted by now.
    func giveUp(_ ticket: BuildStages.Ticket, of bucket: BucketName, again: Bool = false) {
        change(bucket) { $0.giveUp(ticket, of: bucket, again: again) }
    }

    /// Notes that readers see every installed column.
    func published() {
        change { state in state.stages.publish().flatMap { state.takeReady(of: $0) } }
    }

    /// Notes that a column has been dropped. One that did not fit is refused for a while.
    func dropped(_ name: ColumnName, refused: Bool) {
        let until = refused ? clock.now.advanced(by: refusal) : nil
        change(name.bucket) { $0.remove(name.field, of: name.bucket, until: until) }
    }

    /// Forgets everything about a bucket that was deleted.
    func forget(_ bucket: BucketName) { change(bucket) { $0.remove(bucket) } }

    // MARK: The list of columns

    /// The columns that the next snapshot has.
    var columnNames: [ColumnName] { state.withLock { $0.stages.columns { $0.isVacant != nil } } }

    /// Notes that queries have used some columns.
    func used(_ names: [ColumnName]) {
        state.withLock { state in
            state.uses.note(names)
            state.hasChanged = true
        }
    }

    /// The columns worth remembering, the one used last first, if they have changed since the last
    /// call.
    func takeChangedNames() -> [ColumnName]? {
        state.withLock { state in
            guard state.hasChanged, !state.isStopped else { return nil }
            state.hasChanged = false
            return state.uses.takeChanged(
                state.stages.columns { $0.isVacant.map { !$0 } ?? $0.isUnderWay })
        }
    }
}

extension ServiceFailure {
    /// The end of a wait that has taken `columnWaitMilliseconds`.
    static let columnsNotBuilt = ServiceFailure(
        .queryTimeout,
        "columns of the fields that the query filters by are still being built; the same query later "
            + "will find them", retryAfterMilliseconds: 5_000)

    fileprivate static let stopping = ServiceFailure(
        .temporarilyUnavailable, "the service stops")
}
