import CoreMetrics
import Geodesy

/// How many queries and counts took each access path.
struct PlanCounters: Sendable {
    private let counters = Dictionary(
        uniqueKeysWithValues: AccessPath.Kind.allCases.map {
            ($0, Counter(label: "geobucket_plans_total", dimensions: [("path", $0.name)]))
        })

    func count(_ plan: Plan) { counters[plan.path.kind]!.increment() }
}

extension AccessPath {
    /// A path without what it looks for.
    enum Kind: Hashable, Sendable {
        case nothing, ids, nearest, lookup, ordered, union, scan
        case geo(GeoShape.Kind)

        static let allCases: [Kind] =
            [.nothing, .ids, .nearest, .lookup, .ordered, .union, .scan]
            + GeoShape.Kind.allCases.map { .geo($0) }

        /// As plans and metrics show it.
        var name: String {
            if case .geo(let kind) = self { kind.rawValue } else { "\(self)" }
        }
    }
}
