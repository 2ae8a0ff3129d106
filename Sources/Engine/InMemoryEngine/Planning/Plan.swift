import Columns
import Geodesy
import Objects
import PersistentStructures
import QueryLanguage

/// One way to run a query and what it is thought to cost.
struct Plan {
    var path: AccessPath
    /// Tested on points and columns, in batches, no document needed.
    var filter: SlotFilter
    /// What `filter` tests, for people to read.
    var filterClauses: [Clause]
    /// What is left to be tested on the documents; `.all` when nothing is.
    var documentFilter: Clause
    var ordering: Ordering
    /// The order asked for by values in memory; nil where some are in the documents only.
    var ranking: SlotRanking?
    /// How many candidates will be looked at, by estimate.
    var candidates: Int
    /// How many documents will be read to decide on candidates, by estimate.
    var documents: Int
    /// Microseconds, by estimate.
    var cost: Double

    /// How the page's order comes about.
    enum Ordering {
        /// Candidates come in the order asked for: a page stops when it is full.
        case found
        /// By the ranking; the best so many are kept.
        case ranked
        /// By values of which some are in the documents only.
        case documents

        var name: String {
            switch self {
            case .found: "as found"
            case .ranked: "sorted"
            case .documents: "sorted by documents"
            }
        }
    }

    /// How many objects match, where one column counts exactly that.
    var countedMatches: Int? {
        guard case .scan = path, documentFilter == .all else { return nil }
        return filter.exactCount
    }

    var readsDocuments: Bool {
        if case .documents = ordering { return true }
        return documentFilter != .all
    }
}

/// How the candidates of a query are found.
enum AccessPath {
    /// A clause that has to be true can be true for no object: there are no candidates.
    case nothing
    /// The objects of some ids.
    case ids([Slot])
    /// The points in a shape.
    case geo(GeoClause)
    /// The same points, nearest first, as far as the page needs: the shape is what lies within so
    /// many metres by the measure.
    case nearest(GeoClause, by: GeoMeasure, within: Double)
    /// A range of the values of a column that has an order; equal values come by creation.
    case lookup(FieldPath, ColumnRange, isOneValue: Bool)
    /// Every object, in the order of a column, as far as the page needs.
    case ordered(FieldPath, descending: Bool)
    /// What any of several paths finds.
    indirect case union([AccessPath])
    /// Every object, in the order of creation.
    case scan

    var kind: Kind {
        switch self {
        case .nothing: .nothing
        case .ids: .ids
        case .geo(let clause): .geo(clause.shape.kind)
        case .nearest: .nearest
        case .lookup: .lookup
        case .ordered: .ordered
        case .union: .union
        case .scan: .scan
        }
    }

    var name: String { kind.name }

    var field: FieldPath? {
        switch self {
        case .lookup(let field, _, _), .ordered(let field, _): field
        case .geo(let clause), .nearest(let clause, _, _): clause.field
        case .nothing, .ids, .union, .scan: nil
        }
    }

    /// Whether to count what lies within, node by node, may take long too.
    var isCostlyToCount: Bool {
        switch self {
        case .geo(let clause), .nearest(let clause, _, _): clause.shape.isCostlyToCount
        default: false
        }
    }

    /// Whether candidates come by creation.
    var isByCreation: Bool {
        switch self {
        case .nothing, .ids, .scan, .union: true
        case .lookup(_, _, let isOneValue): isOneValue
        case .geo, .nearest, .ordered: false
        }
    }
}
