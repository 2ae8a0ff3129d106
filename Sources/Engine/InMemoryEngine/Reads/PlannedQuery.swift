import BackendContract
import Objects
import QueryLanguage
import Runtime

/// A query and its cheapest plan on one snapshot.
///
/// It is a class because it is passed around and holds many references, which a copy would retain.
final class PlannedQuery: Sendable {
    let engine: Engine
    let query: Query
    let bucket: BucketName
    let snapshot: Snapshot
    let planner: Planner
    let plan: Plan
    private let principal: String?

    /// The highest cost of a plan, in microseconds, that may run on a thread which other requests
    /// wait for.
    private static let lightCost = 250.0

    /// - Parameters:
    ///   - pageObjects: nil to find every object that satisfies the clause.
    ///   - principal: the principal that sent the query, if it is known.
    convenience init(
        _ query: Query, in bucket: BucketName, pageObjects: Int? = nil,
        by principal: String? = nil, on engine: Engine
    ) {
        let snapshot = engine.snapshot
        self.init(
            query, in: bucket, engine.bucketView(of: bucket, in: snapshot) ?? .empty, of: snapshot,
            pageObjects: pageObjects, by: principal, on: engine)
    }

    /// - Parameters:
    ///   - bucketView: the bucket as it is seen at some time.
    ///   - snapshot: the snapshot that has it.
    init(
        _ query: Query, in bucket: BucketName, _ bucketView: BucketView, of snapshot: Snapshot,
        pageObjects: Int?, by principal: String? = nil, on engine: Engine
    ) {
        (self.engine, self.query, self.bucket) = (engine, query, bucket)
        (self.snapshot, self.principal) = (snapshot, principal)
        planner = Planner(
            bucketView: bucketView, query: query, pageObjects: pageObjects, engine.clock)
        plan = planner.cheapest()
    }

    var state: BucketState { _read { yield planner.bucketView.state } }

    /// Whether the query may run on a thread which other requests wait for, by estimate.
    var isLight: Bool { plan.cost <= Self.lightCost }

    var outline: (bucket: BucketName, plan: String)? { (bucket, plan.outline) }

    func execution(within bounds: ReadBounds) -> Execution { Execution(self, within: bounds) }

    /// Requests the columns and orders that would have made this query cheaper, for later queries.
    ///
    /// - Parameter isUnderestimated: whether it has turned out to take much longer than estimated.
    func requestColumns(isUnderestimated: Bool = false) {
        let tuning = engine.tuning
        guard state.count >= tuning.smallestBucket else { return }
        if !planner.missing.isEmpty, isUnderestimated || plan.documents >= tuning.documentsForColumn
        {
            engine.columnRequests.want(planner.missing, of: bucket, for: principal)
        }
        guard plan.candidates >= tuning.candidatesForOrder else { return }
        for field in planner.wantedOrders(beyond: plan, gain: tuning.gainForOrder) {
            engine.columnRequests.wantOrder(of: ColumnName(bucket: bucket, field: field))
        }
    }

    /// Waits for missing columns if the query would otherwise read very many documents one by one.
    /// Building the columns scans the table in storage order, which is many times faster.
    ///
    /// - Returns: the query, planned on a state that has the columns. They may have been published
    ///   since the query was planned.
    func awaitingColumns(within bounds: ReadBounds) -> PlannedQuery {
        guard isWorthWaiting else { return self }
        let changes = engine.columnRequests.changes
        // If the columns cannot be built, enough time must remain to read documents, which report
        // the reason.
        let end = bounds.deadline.earlier(
            by: .milliseconds(engine.limits.queryMilliseconds) / 10)
        bounds.stop?.whenStopped { changes.signal() }
        while true {
            let seen = changes.count
            let planned = PlannedQuery(
                query, in: bucket, pageObjects: planner.pageObjects, by: principal, on: engine)
            guard planned.isWorthWaiting,
                engine.columnRequests.isMaking(planned.planner.missing, of: bucket),
                !bounds.isStopped, !end.isOver
            else { return planned }
            changes.wait(beyond: seen, atMost: end.timeLeft)
        }
    }

    /// Whether the query would be much cheaper with the missing columns.
    private var isWorthWaiting: Bool {
        !planner.missing.isEmpty && plan.documents >= engine.tuning.documentsForWaiting
    }
}
