import Geodesy
import JSONText
import Objects
import QueryLanguage
import SpatialIndex

/// How the candidates of a query are found.
enum AccessPath {
    /// A clause that has to be true can be true for no object: there are no candidates.
    case nothing
    /// The objects of some ids.
    case ids([Slot])
    case box(FieldPath, GeoBox)
    case polygon(FieldPath, GeoPolygon)
    /// Everything within a radius, or everything that has the field.
    case circle(DistanceClause)
    /// As `circle`, nearest first, as far as the page needs.
    case nearest(DistanceClause)
    /// What any of several paths finds.
    indirect case union([AccessPath])
    /// Every object, in the order of creation.
    case scan

    var name: String {
        switch self {
        case .nothing: "nothing"
        case .ids: "ids"
        case .box: "box"
        case .polygon: "polygon"
        case .circle: "circle"
        case .nearest: "nearest"
        case .union: "union"
        case .scan: "scan"
        }
    }

    var field: FieldPath? {
        switch self {
        case .box(let field, _), .polygon(let field, _): field
        case .circle(let clause), .nearest(let clause): clause.field
        case .nothing, .ids, .union, .scan: nil
        }
    }
}

/// One way to run a query and what it is thought to cost.
struct Plan {
    var path: AccessPath
    /// Clauses, trees among them, on places alone: tested against the spatial index, no document
    /// needed.
    var placeFilters: [Clause]
    /// What is left to be tested on the documents; `.all` when nothing is.
    var documentFilter: Clause
    /// Whether candidates come in the order asked for, so that a page can stop early.
    var isOrdered: Bool
    /// Whether an order has to be made from fields of the documents.
    var sortsByFields: Bool
    /// How many candidates will be looked at, by estimate.
    var candidates: Int
    /// Microseconds, by estimate.
    var cost: Double

    var readsDocuments: Bool {
        if case .all = documentFilter { return sortsByFields }
        return true
    }
}
