import CoreMetrics

/// How many queries and counts took each access path.
struct PlanCounters: Sendable {
    private let counters = AccessPath.Kind.allCases.map {
        Counter(label: "geobucket_plans_total", dimensions: [("path", "\($0)")])
    }

    func count(_ plan: Plan) { counters[plan.path.kind.rawValue].increment() }
}

extension AccessPath {
    /// A path without what it looks for.
    enum Kind: Int, CaseIterable, Sendable {
        case nothing, ids, box, polygon, circle, nearest, lookup, ordered, union, scan
    }
}
