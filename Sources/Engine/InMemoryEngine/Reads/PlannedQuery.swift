import Backend
import Glibc
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
        if !planner.missing.isEmpty, plan.documents >= tuning.documentsForColumn {
            engine.columnRequests.want(planner.missing, of: bucket, for: principal)
        }
        guard plan.candidates >= tuning.candidatesForOrder else { return }
        for field in planner.wantedOrders(beyond: plan, gain: tuning.gainForOrder) {
            engine.columnRequests.wantOrder(of: ColumnName(bucket: bucket, field: field))
        }
    }

    /// Waits for the columns that the query misses, where for want of them it would read very many
    /// documents one by one: they are made out of the table as it lies, which is many times faster.
    ///
    /// - Returns: the query, planned on the state that has them.
    func awaitingColumns(within bounds: ReadBounds) -> PlannedQuery {
        var planned = self
        // What cannot be made leaves time for the documents, which tell why.
        let end = bounds.deadline - .milliseconds(engine.limits.queryMilliseconds / 10)
        while planned.plan.documents >= engine.tuning.documentsForWaiting,
            engine.columnRequests.isMaking(planned.planner.missing, of: bucket), !bounds.isStopped,
            ContinuousClock.now < end
        {
            usleep(Self.columnPause)
            planned = PlannedQuery(
                query, in: bucket, pageObjects: planner.pageObjects, by: principal, on: engine)
        }
        return planned
    }

    /// Microseconds between two looks whether columns have been made.
    private static let columnPause: UInt32 = 5_000
}
