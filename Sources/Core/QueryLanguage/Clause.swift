import Objects
import PlainJSON

/// A condition on objects: a tree of logic over leaves, each about one field.
///
///     Clause.and([.eq("kind", .string("shop")), .geo(GeoClause("location", .box(box)))])
///
/// Logic is three-valued: a leaf on a field that is missing, null, or of a type the leaf cannot
/// compare is unknown. An object is selected when its clause is true.
public indirect enum Clause: Sendable, Hashable {
    /// True of every object.
    case all
    /// Equal by value: `1` and `1.0` are the same number.
    case eq(FieldPath, Literal)
    /// A number or a string within limits.
    case range(FieldPath, LiteralRange)
    /// The prefix as UTF-8.
    case prefix(FieldPath, [UInt8])
    /// A string that matches the pattern as a whole.
    case like(FieldPath, LikePattern)
    /// Equal to at least one of the values.
    case isIn(FieldPath, [Literal])
    /// Nil: present, whatever its type.
    case hasField(FieldPath, FieldType?)
    /// At least one GeoPoint of the field lies in the shape.
    case geo(GeoClause)
    /// A string with that string in it, or an array with an equal element.
    case contains(FieldPath, Literal)
    /// The least truth among the clauses; true if there are none.
    case and([Clause])
    /// The greatest truth among the clauses; false if there are none.
    case or([Clause])
    /// The opposite; unknown stays unknown.
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
        case .eq(let field, _), .range(let field, _), .prefix(let field, _), .like(let field, _),
            .isIn(let field, _), .hasField(let field, _), .contains(let field, _):
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
