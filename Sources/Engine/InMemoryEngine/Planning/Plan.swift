import Geodesy
import Objects
import PersistentStructures
import QueryLanguage
import SpatialIndex

/// One way to run a query, with its estimated cost.
struct Plan {
    var path: AccessPath
    /// The tests on points and columns, which run in batches and need no documents.
    var filter: SlotFilter
    /// The clauses that `filter` tests, for people to read.
    var filterClauses: [Clause]
    /// The clause that remains to be tested on the documents; `.all` if none remains.
    var documentFilter: Clause
    var ordering: Ordering
    /// The order by values in memory; nil if the documents are needed for some of them.
    var ranking: SlotRanking?
    /// The fields whose values are aggregated.
    var aggregated = AggregatedFields()
    /// The estimated number of candidates that will be visited.
    var candidates: Int
    /// The estimated number of documents that will be read to decide on candidates.
    var documents: Int
    /// How many candidates are tested and ranked before the clock is read again.
    var batch = SlotPredicate.batch
    /// The estimated cost in microseconds.
    var cost: Double
    /// The exact number of matches if one column counts them.
    var countedMatches: Int?

    /// The fields whose values a query aggregates, by where the values are found.
    struct AggregatedFields {
        var inColumns: [FieldPath] = []
        var inDocuments: [FieldPath] = []

        var all: [FieldPath] { inColumns + inDocuments }
    }

    /// How the matches of a page are put in order.
    enum Ordering {
        /// The candidates arrive in the requested order, so the search stops when the page is full.
        case found
        /// The ranking orders the matches. Only the best ones that fit the page are kept.
        case ranked
        /// The matches are ordered by values some of which are only in the documents.
        case documents
        /// Every match is wanted, in whatever order.
        case unordered

        var name: String {
            switch self {
            case .found: "as found"
            case .ranked: "sorted"
            case .documents: "sorted by documents"
            case .unordered: "none"
            }
        }
    }

    /// Whether every object matches.
    var selectsAll: Bool {
        guard case .scan = path else { return false }
        return filter.isEmpty && documentFilter == .all
    }

    var readsDocuments: Bool {
        if case .documents = ordering { return true }
        return documentFilter != .all || !aggregated.inDocuments.isEmpty
    }
}

/// How the candidates of a query are found.
enum AccessPath {
    /// No candidates: a clause that has to be true is true for no object.
    case nothing
    /// The objects with the given ids.
    case ids([Slot])
    /// The points in a shape.
    case geo(GeoClause, PointIndex)
    /// The points in a shape, nearest first, as many as the page needs. The shape is the area
    /// within a number of metres by the measure.
    case nearest(GeoClause, PointIndex, by: GeoMeasure, within: Double)
    /// A range of values of a column that has an order. Equal values are in the order of creation.
    case lookup(FieldPath, ColumnRange, isOneValue: Bool)
    /// Every object in the order of a column, as many as the page needs.
    case ordered(FieldPath, descending: Bool)
    /// The union of the candidates of several paths.
    indirect case union([AccessPath])
    /// Every object, in the order of creation.
    case scan

    var kind: Kind {
        switch self {
        case .nothing: .nothing
        case .ids: .ids
        case .geo(let clause, _): .geo(clause.shape.kind)
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
        case .geo(let clause, _), .nearest(let clause, _, _, _): clause.field
        case .nothing, .ids, .union, .scan: nil
        }
    }

    /// Whether candidates arrive in the order of creation.
    var isByCreation: Bool {
        switch self {
        case .nothing, .ids, .scan, .union: true
        case .lookup(_, _, let isOneValue): isOneValue
        case .geo, .nearest, .ordered: false
        }
    }
}
