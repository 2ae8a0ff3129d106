import CoreMetrics
import Geodesy
import Synchronization

/// Counts the queries and counts that used each access path.
final class PlanCounters: Sendable {
    /// In the order of the kinds' numbers.
    private let counters = AccessPath.Kind.allCases.map {
        Counter(label: "geobucket_plans_total", dimensions: [("path", $0.name)])
    }

    private let scanned = Atomic(0)

    /// Those that went through a whole bucket.
    var scans: Int { scanned.load(ordering: .relaxed) }

    func count(_ kind: AccessPath.Kind) {
        counters[kind.number].increment()
        if case .scan = kind { scanned.add(1, ordering: .relaxed) }
    }
}

extension AccessPath {
    /// The kind of a path, without its arguments.
    enum Kind: Sendable {
        case nothing, ids, nearest, lookup, ordered, union, scan
        case geo(GeoShape.Kind)

        private static let others: [Kind] = [
            .nothing, .ids, .nearest, .lookup, .ordered, .union, .scan,
        ]
        private static let shapes = GeoShape.Kind.allCases
        static let allCases = others + shapes.map { .geo($0) }

        /// The position in `allCases`.
        var number: Int {
            switch self {
            case .nothing: 0
            case .ids: 1
            case .nearest: 2
            case .lookup: 3
            case .ordered: 4
            case .union: 5
            case .scan: 6
            case .geo(let kind): Self.others.count + Self.shapes.firstIndex(of: kind)!
            }
        }

        /// The name in plans and metrics.
        var name: String {
            if case .geo(let kind) = self { kind.rawValue } else { "\(self)" }
        }
    }
}
