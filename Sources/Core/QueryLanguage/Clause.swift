import JSONText
import Objects

/// A condition on objects: a tree of logic over leaves, each about one field.
///
///     Clause.and([.eq("kind", .string("shop")), .geo(GeoClause("location", .box(box)))])
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
    case geo(GeoClause)
    /// A string with that string in it, or an array with an equal element.
    case contains(FieldPath, Literal)
    case and([Clause])
    case or([Clause])
    case not(Clause)

    /// Every distance that clauses of the tree report, in the order of the document.
    public var reportedDistances: [ReportedDistance] {
        switch self {
        case .geo(let clause): clause.reports
        case .and(let clauses), .or(let clauses): clauses.flatMap(\.reportedDistances)
        case .not(let clause): clause.reportedDistances
        default: []
        }
    }

    /// The fields of the tree's leaves, with repetitions.
    public var fields: [FieldPath] {
        switch self {
        case .all: []
        case .eq(let field, _), .range(let field, _), .prefix(let field, _), .isIn(let field, _),
            .hasField(let field, _), .contains(let field, _):
            [field]
        case .geo(let clause): [clause.field]
        case .and(let clauses), .or(let clauses): clauses.flatMap(\.fields)
        case .not(let clause): clause.fields
        }
    }

    /// The clauses that must all be true for this one to be true.
    public var conjuncts: [Clause] {
        switch self {
        case .and(let clauses): clauses.flatMap(\.conjuncts)
        case .all: []
        default: [self]
        }
    }
}

/// `range`: one or two limits of one kind.
public enum LiteralRange: Sendable, Hashable {
    /// Limits compared by value; at least one of them is there.
    case numbers(lower: Limit<JSONNumber>?, upper: Limit<JSONNumber>?)
    /// Limits as UTF-8.
    case strings(lower: Limit<[UInt8]>?, upper: Limit<[UInt8]>?)

    /// One end of a range.
    public struct Limit<Value: Sendable & Hashable>: Sendable, Hashable {
        /// The value at the end.
        public var value: Value
        /// Whether the value itself belongs to the range.
        public var included: Bool

        /// A limit, included unless stated otherwise.
        public init(_ value: Value, included: Bool = true) {
            self.value = value
            self.included = included
        }
    }
}

/// `hasField`: the field types that can be tested for.
public enum FieldType: String, Sendable, Hashable, CaseIterable {
    case string = "STRING"
    /// A number with no fractional part, `1.0` included.
    case integer = "INTEGER"
    /// A number with a fractional part.
    case decimal = "DECIMAL"
    case boolean = "BOOLEAN"
    case geoPoint = "GEOPOINT"
    case array = "ARRAY"
    case object = "OBJECT"
    case null = "NULL"
}
