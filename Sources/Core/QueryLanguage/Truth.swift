/// Kleene's three truth values, as in SQL.
public enum Truth: Int8, Sendable, Comparable {
    /// False: the least of the three.
    case no = 0
    /// Of a field that is missing, null, or of a type that a leaf cannot compare.
    case unknown = 1
    /// True: the greatest, and the only one that selects an object.
    case yes = 2

    /// The truth of what is known: `yes` or `no`.
    public init(_ value: Bool) { self = value ? .yes : .no }

    public static func < (a: Truth, b: Truth) -> Bool { a.rawValue < b.rawValue }

    /// The negation, which keeps `unknown`.
    public static prefix func ! (a: Truth) -> Truth { Truth(rawValue: 2 - a.rawValue)! }

    /// The conjunction: the least of both.
    public static func & (a: Truth, b: Truth) -> Truth { min(a, b) }

    /// The disjunction: the greatest of both.
    public static func | (a: Truth, b: Truth) -> Truth { max(a, b) }
}
