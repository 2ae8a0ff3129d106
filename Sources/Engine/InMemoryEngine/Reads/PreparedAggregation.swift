import BackendContract
import JSONText
import Objects
import QueryLanguage

/// Counts the objects that satisfy a clause, and aggregates their fields.
final class PreparedAggregation: PreparedRead {
    private let planned: PlannedQuery
    private let totals: Totals?
    private let isUnderestimated: Bool
    let isCostly: Bool

    /// The longest time for which totals are written on a thread which other requests wait for.
    private static let brief = 250_000

    /// - Parameter query: its order, limit and fields are ignored. Without aggregations the objects
    ///   are only counted, and nothing is appended.
    init(
        _ query: Query, in bucket: BucketName, by principal: String?, on engine: Engine
    ) {
        let planned = PlannedQuery(query, in: bucket, by: principal, on: engine)
        // The estimate assumes that every candidate is visited; counting by nodes costs less.
        let isQuick = planned.isLight || !planned.isCostlyToCount
        var totals = isQuick ? planned.totalsWithoutVisiting(within: engine.briefBounds) : nil
        if totals == nil, planned.isLight {
            // The run on a worker thread meets any failure again, and reports it.
            totals = try? planned.totalsByVisiting(within: engine.briefBounds)
            if totals != nil { planned.requestColumns() }
        }
        isUnderestimated = totals == nil && planned.isLight
        isCostly = totals.map { $0.nanosecondsToWrite > Self.brief } ?? true
        (self.planned, self.totals) = (planned, totals)
    }

    var outline: (bucket: BucketName, plan: String)? { planned.outline }
    var clauseShape: String? { planned.clauseShape }

    func mayRun(
        since begin: Int64, after waits: Int, until stop: StopSignal,
        _ ready: @escaping @Sendable (ServiceFailure?) -> Void
    ) -> Bool { totals != nil || planned.mayRun(since: begin, after: waits, until: stop, ready) }

    func run(
        maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> ReadEnd {
        let bounds = planned.engine.bounds(until: stop)
        let known = self.totals ?? planned.totalsWithoutVisiting(within: bounds)
        let totals = if let known { known } else { try visit(within: bounds) }
        let aggregations = planned.query.aggregations
        if !aggregations.isEmpty {
            try totals.write(aggregations, maximumBytes: maximumBytes, to: &writer)
        }
        return ReadEnd(count: totals.count)
    }

    private func visit(within bounds: ReadBounds) throws(ServiceFailure) -> Totals {
        planned.requestColumns(isUnderestimated: isUnderestimated)
        return try planned.totalsByVisiting(within: bounds)
    }
}

extension PlannedQuery {
    /// The totals of the matches, by visiting every candidate.
    fileprivate func totalsByVisiting(
        within bounds: ReadBounds
    ) throws(ServiceFailure) -> Totals {
        var totals = Totals(of: query, on: state, limits: engine.limits)
        try execution(within: bounds).add(to: &totals)
        engine.planCounters.count(plan.path.kind)
        return totals
    }

    /// The totals of the matches, if no candidate has to be visited and the time is enough.
    fileprivate func totalsWithoutVisiting(within bounds: ReadBounds) -> Totals? {
        if plan.aggregated.all.isEmpty {
            return countWithoutVisiting(within: bounds).map {
                Totals(count: $0, limits: engine.limits)
            }
        }
        return plan.selectsAll ? Totals(allOf: query, in: state, limits: engine.limits) : nil
    }

    /// Whether counting the objects in the shape, node by node, may take long too.
    fileprivate var isCostlyToCount: Bool {
        switch plan.path {
        case .geo(let clause, let index), .nearest(let clause, let index, _, _):
            clause.shape.isCostlyToCount || index.hasSeveral
        default: false
        }
    }

    private func countWithoutVisiting(within bounds: ReadBounds) -> Int? {
        if let count = plan.countedMatches { return count }
        guard plan.filter.isEmpty, case .all = plan.documentFilter else { return nil }
        switch plan.path {
        case .nothing: return 0
        case .scan: return state.count
        case .ids(let slots): return slots.count
        case .union, .lookup, .ordered: return nil
        case .geo(let clause, let index), .nearest(let clause, let index, _, _):
            return index.count(in: clause.shape) { bounds.areOver }
        }
    }
}
