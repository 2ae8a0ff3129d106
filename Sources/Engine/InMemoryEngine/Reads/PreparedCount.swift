import Backend
import JSONText
import Objects
import QueryLanguage

/// Counts the objects that satisfy a clause.
final class PreparedCount: PreparedRead {
    private let planned: PlannedQuery
    private let counted: Int?
    let isCostly: Bool

    init(
        _ clause: Clause, in bucket: BucketName, by principal: String?, on engine: InMemoryEngine
    ) {
        var planned = PlannedQuery(Query(clause: clause), in: bucket, by: principal, on: engine)
        // The estimate assumes that every candidate is visited; counting by nodes costs less.
        let isQuick = planned.isLight || !planned.plan.path.isCostlyToCount
        var counted = isQuick ? planned.countWithoutVisiting : nil
        if counted == nil, planned.isLight {
            // The run on a worker thread meets any failure again, and reports it.
            counted = try? planned.countVisiting(within: engine.briefBounds)
            if counted == nil { planned.isUnderestimated = true } else { planned.requestColumns() }
        }
        isCostly = counted == nil
        (self.planned, self.counted) = (planned, counted)
    }

    var outline: (bucket: BucketName, plan: String)? { planned.outline }

    func run(
        maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> ReadEnd {
        if let counted = counted ?? planned.countWithoutVisiting {
            return ReadEnd(count: counted)
        }
        let bounds = planned.engine.bounds(until: stop)
        planned.requestColumns()
        let asked = planned.awaitingColumns(within: bounds)
        return ReadEnd(count: try asked.countVisiting(within: bounds))
    }
}

extension PlannedQuery {
    /// The number of matches, by visiting every candidate.
    fileprivate func countVisiting(within bounds: ReadBounds) throws(ServiceFailure) -> Int {
        var count = 0
        try execution(within: bounds).forEachMatch { _ in count += 1 }
        engine.planCounters.count(plan)
        return count
    }

    /// The number of matches, if no candidate has to be visited.
    fileprivate var countWithoutVisiting: Int? {
        guard plan.filter.isEmpty, case .all = plan.documentFilter else {
            return plan.countedMatches
        }
        switch plan.path {
        case .nothing: return 0
        case .scan: return state.count
        case .ids(let slots): return slots.count
        case .union, .lookup, .ordered: return nil
        case .geo(let clause), .nearest(let clause, _, _):
            return state.fields[clause.field]?.count(in: clause.shape)
        }
    }
}
