import Backend
import Objects
import QueryLanguage

/// A query and its cheapest plan on one snapshot.
struct PlannedQuery {
    let engine: InMemoryEngine
    let query: Query
    let bucket: BucketName
    let snapshot: Snapshot
    let planner: Planner
    let plan: Plan
    private let principal: String?
    /// It has turned out to take much longer than estimated.
    var isUnderestimated = false

    /// A plan that costs less may run on a thread that others wait for; microseconds.
    private static let lightCost = 250.0

    /// - Parameters:
    ///   - pageObjects: nil to find all that satisfies the clause.
    ///   - principal: who asks, if that is known.
    init(
        _ query: Query, in bucket: BucketName, pageObjects: Int? = nil,
        by principal: String? = nil, on engine: InMemoryEngine
    ) {
        (self.engine, self.query, self.bucket) = (engine, query, bucket)
        self.principal = principal
        snapshot = engine.snapshot
        planner = Planner(
            bucketView: engine.bucketView(of: bucket, in: snapshot) ?? .empty, clause: query.clause,
            order: query.order, pageObjects: pageObjects)
        plan = planner.cheapest()
    }

    var state: BucketState { planner.bucketView.state }

    /// Whether it may run on a thread that others wait for, by estimate.
    var isLight: Bool { plan.cost <= Self.lightCost }

    var outline: (bucket: BucketName, plan: String)? { (bucket, plan.outline) }

    func execution(within bounds: ReadBounds) -> Execution {
        Execution(
            engine: engine, snapshot: snapshot, bucketView: planner.bucketView, query: query,
            plan: plan,
            bounds: bounds)
    }

    /// Has made, for queries to come, what would have made this one cheaper.
    func requestColumns() {
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

    /// Waits for missing columns if the query would read very many documents one by one without them:
    /// they are made out of the table as it lies, which is many times faster.
    ///
    /// - Returns: the query, planned on the state that has them.
    func awaitingColumns(within bounds: ReadBounds) -> PlannedQuery {
        let changes = engine.columnRequests.changes
        // What cannot be made leaves time for the documents, which tell why.
        let end = bounds.deadline - .milliseconds(engine.limits.queryMilliseconds / 10)
        guard waitsForColumns else { return self }
        bounds.stop?.whenStopped { changes.signal() }
        while true {
            let seen = changes.count
            let planned = PlannedQuery(
                query, in: bucket, pageObjects: planner.pageObjects, by: principal, on: engine)
            guard planned.waitsForColumns, !bounds.isStopped, ContinuousClock.now < end else {
                return planned
            }
            changes.wait(beyond: seen, until: end)
        }
    }

    private var waitsForColumns: Bool {
        plan.documents >= engine.tuning.documentsForWaiting
            && engine.columnRequests.isMaking(planner.missing, of: bucket)
    }
}
