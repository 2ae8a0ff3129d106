import CoreMetrics
import Geodesy

/// Counts the queries and counts that used each access path.
struct PlanCounters: Sendable {
    private let counters = Dictionary(
        uniqueKeysWithValues: AccessPath.Kind.allCases.map {
            ($0, Counter(label: "geobucket_plans_total", dimensions: [("path", $0.name)]))
        })

    func count(_ plan: Plan) { counters[plan.path.kind]!.increment() }
}

extension AccessPath {
    /// The kind of a path, without its arguments.
    enum Kind: Hashable, Sendable {
        case nothing, ids, nearest, lookup, ordered, union, scan
        case geo(GeoShape.Kind)

        static let allCases: [Kind] =
            [.nothing, .ids, .nearest, .lookup, .ordered, .union, .scan]
            + GeoShape.Kind.allCases.map { .geo($0) }

        /// The name in plans and metrics.
        var name: String {
            if case .geo(let kind) = self { kind.rawValue } else { "\(self)" }
        }
    }
}
