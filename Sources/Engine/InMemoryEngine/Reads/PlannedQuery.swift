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
    /// How often one request waits for columns. More often than once it does if they come one after the
    /// other.
    private static let mostWaits = 8

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

    var clauseShape: String? { query.clause.shape }

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

    /// Whether to run the query as it is planned. If it would read very many documents one by one, it
    /// waits for the columns that it lacks: building them reads the table in storage order, which is
    /// many times faster. See `PreparedRead.mayRun`.
    func mayRun(
        since begin: Int64, after waits: Int, until stop: StopSignal,
        _ ready: @escaping @Sendable (ServiceFailure?) -> Void
    ) -> Bool {
        guard isWorthWaiting, waits < Self.mostWaits else { return true }
        // Columns that were there and are gone again would go again.
        if waits == 0 { engine.columnRequests.want(planner.missing, of: bucket, for: principal) }
        let end = MonotonicTime(nanoseconds: begin).advanced(
            by: .milliseconds(engine.limits.columnWaitMilliseconds))
        let isOver = end <= engine.clock.now
        if !isOver,
            engine.columnRequests.wait(
                for: planner.missing, of: bucket, until: end, stop, ready)
        {
            return false
        }
        // Those that will not be built may have been published since the query was planned.
        let columns = engine.snapshot.bucket(bucket)?.columns
        if planner.missing.contains(where: { columns?.ready($0) != nil }) {
            ready(nil)
            return false
        }
        guard isOver, engine.columnRequests.areUnderWay(planner.missing, of: bucket) else {
            return true
        }
        ready(.columnsNotBuilt)
        return false
    }

    /// Whether the query would be much cheaper with the missing columns.
    private var isWorthWaiting: Bool {
        !planner.missing.isEmpty && plan.documents >= engine.tuning.documentsForWaiting
            && state.count >= engine.tuning.smallestBucket
    }
}
