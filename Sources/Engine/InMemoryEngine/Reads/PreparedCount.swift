import Backend
import JSONText
import Objects
import QueryLanguage

/// How many objects satisfy a clause.
final class PreparedCount: PreparedRead {
    private let planned: PlannedQuery
    private let counted: Int?
    let isCostly: Bool

    init(
        _ clause: Clause, in bucket: BucketName, by principal: String?, on engine: InMemoryEngine
    ) {
        let planned = PlannedQuery(Query(clause: clause), in: bucket, by: principal, on: engine)
        let isLight = planned.isLight
        // What is estimated is to visit every candidate; to count them by nodes costs less.
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
        // A thread that others wait for does not sleep.
        let asked = isCostly ? planned.awaitingColumns(within: bounds) : planned
        asked.engine.planCounters.count(asked.plan)
        var count = 0
        try asked.execution(within: bounds).forEachMatch { _ in count += 1 }
        return ReadEnd(count: count)
    }
}

extension PlannedQuery {
    /// How many objects match, where no candidate has to be looked at.
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
