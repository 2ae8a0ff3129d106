import Geodesy
import JSONText
import Objects

/// What an object has to satisfy: a tree of logic over leaves that each look at one field.
///
///     Clause.and([.eq("kind", .string("shop")), .geobox("location", box)])
///
/// Logic is three-valued: a leaf on a field that is missing, null, or of a type the leaf cannot
/// compare is unknown. An object is selected when its clause is true.
public indirect enum Clause: Sendable, Hashable {
    case all
    case eq(FieldPath, Literal)
    case range(FieldPath, LiteralRange)
    /// The prefix as UTF-8.
    case prefix(FieldPath, [UInt8])
    case isIn(FieldPath, [Literal])
    /// Nil: present, whatever its type.
    case hasField(FieldPath, FieldType?)
    case geobox(FieldPath, GeoBox)
    case geopolygon(FieldPath, GeoPolygon)
    case geodistance(DistanceClause)
    case contains(FieldPath, Literal)
    case and([Clause])
    case or([Clause])
    case not(Clause)

    /// Every `geodistance` of the tree, in the order of the document.
    public var distanceClauses: [DistanceClause] {
        switch self {
        case .geodistance(let clause): [clause]
        case .and(let clauses), .or(let clauses): clauses.flatMap(\.distanceClauses)
        case .not(let clause): clause.distanceClauses
        default: []
        }
    }

    /// The fields that the tree looks at, each as often as it does.
    public var fields: [FieldPath] {
        switch self {
        case .all: []
        case .eq(let field, _), .range(let field, _), .prefix(let field, _), .isIn(let field, _),
            .hasField(let field, _), .geobox(let field, _), .geopolygon(let field, _),
            .contains(let field, _):
            [field]
        case .geodistance(let clause): [clause.field]
        case .and(let clauses), .or(let clauses): clauses.flatMap(\.fields)
        case .not(let clause): clause.fields
        }
    }

    /// The clauses that all have to be true for this one to be.
    public var conjuncts: [Clause] {
        switch self {
        case .and(let clauses): clauses.flatMap(\.conjuncts)
        case .all: []
        default: [self]
        }
    }
}

/// `geodistance`: within a distance of a centre.
///
/// A class because it is handed on much and holds much: copies would count many references.
public final class DistanceClause: Sendable {
    public let field: FieldPath
    /// The centre and the model.
    public let origin: DistanceModel.Origin
    /// Nil: everywhere.
    public let radiusMeters: Double?
    /// The name under which the distance is reported in `_calculated`.
    public let putDistanceInto: String?

    /// Half the circumference, and the largest radius.
    public static let maximumRadiusMeters = 20_015_115.0

    public var center: Coordinate { origin.place }
    public var model: DistanceModel { origin.model }

    public init(
        field: FieldPath, center: Coordinate, radiusMeters: Double? = nil,
        model: DistanceModel = .sphere, putDistanceInto: String? = nil
    ) {
        self.field = field
        origin = DistanceModel.Origin(center, model)
        self.radiusMeters = radiusMeters
        self.putDistanceInto = putDistanceInto
    }
}

extension DistanceClause: Hashable {
    public static func == (a: DistanceClause, b: DistanceClause) -> Bool {
        a === b
            || a.field == b.field && a.origin == b.origin && a.radiusMeters == b.radiusMeters
                && a.putDistanceInto == b.putDistanceInto
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(field)
        hasher.combine(origin)
        hasher.combine(radiusMeters)
        hasher.combine(putDistanceInto)
    }
}

/// `range`: one or two limits of one kind.
public enum LiteralRange: Sendable, Hashable {
    case numbers(lower: Limit<JSONNumber>?, upper: Limit<JSONNumber>?)
    /// Limits as UTF-8.
    case strings(lower: Limit<[UInt8]>?, upper: Limit<[UInt8]>?)

    public struct Limit<Value: Sendable & Hashable>: Sendable, Hashable {
        public var value: Value
        public var included: Bool

        public init(_ value: Value, included: Bool = true) {
            self.value = value
            self.included = included
        }
    }
}

/// `hasField`: the types a field can be asked to have.
public enum FieldType: String, Sendable, Hashable, CaseIterable {
    case string = "STRING"
    /// A number with no fractional part, `1.0` included.
    case integer = "INTEGER"
    case decimal = "DECIMAL"
    case boolean = "BOOLEAN"
    case geoPoint = "GEOPOINT"
    case array = "ARRAY"
    case object = "OBJECT"
    case null = "NULL"
}
