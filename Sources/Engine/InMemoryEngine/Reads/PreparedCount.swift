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
        let planned = PlannedQuery(Query(clause: clause), in: bucket, by: principal, on: engine)
        let isLight = planned.isLight
        // The estimate assumes that every candidate is visited; counting by nodes costs less.
        let isQuick = isLight || !planned.plan.path.isCostlyToCount
        let counted = isQuick ? planned.countWithoutVisiting : nil
        isCostly = !isLight && counted == nil
        (self.planned, self.counted) = (planned, counted)
    }

    var outline: (bucket: BucketName, plan: String)? { planned.outline }

    func run(
        maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> ReadEnd {
        if let counted = counted ?? (isCostly ? planned.countWithoutVisiting : nil) {
            return ReadEnd(count: counted)
        }
        let bounds = planned.engine.bounds(until: stop)
        planned.requestColumns()
        // A thread that other requests wait for must not sleep.
        let asked = isCostly ? planned.awaitingColumns(within: bounds) : planned
        asked.engine.planCounters.count(asked.plan)
        var count = 0
        try asked.execution(within: bounds).forEachMatch { _ in count += 1 }
        return ReadEnd(count: count)
    }
}

extension PlannedQuery {
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
