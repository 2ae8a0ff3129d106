import PlainJSON

/// A field by name and type, so that clauses on it are checked by the compiler.
///
///     let rating = Field<Int>("rating"), kind = Field<String>("kind")
///     let clause = rating >= 4 && kind.isIn(["cafe", "bar"])
///     rating == "four"                // error: a Field is compared with a value of its own type
public struct Field<Value: JSONConvertible>: Sendable {
    /// The field path that clauses of the field name.
    public let path: String

    /// - Parameter path: a field path, such as `address.city`.
    public init(_ path: String) { self.path = path }

    /// Objects whose field has this value; numbers compare by value.
    public static func == (field: Field, value: Value) -> Clause {
        .equals(field.path, value: value)
    }

    /// Objects whose field has another value of a comparable type; not those without the field.
    public static func != (field: Field, value: Value) -> Clause {
        .notEquals(field.path, value: value)
    }

    /// Objects whose field has a smaller value.
    public static func < (field: Field, value: Value) -> Clause where Value: Comparable {
        .lessThan(field.path, value: value)
    }

    /// Objects whose field has at most this value.
    public static func <= (field: Field, value: Value) -> Clause where Value: Comparable {
        .lessThanOrEqual(field.path, value: value)
    }

    /// Objects whose field has a greater value.
    public static func > (field: Field, value: Value) -> Clause where Value: Comparable {
        .greaterThan(field.path, value: value)
    }

    /// Objects whose field has at least this value.
    public static func >= (field: Field, value: Value) -> Clause where Value: Comparable {
        .greaterThanOrEqual(field.path, value: value)
    }

    /// Objects whose field has one of up to 200 values.
    public func isIn(_ values: [Value]) -> Clause { .in(path, value: values) }

    /// Objects whose field has a value in the range, both limits included.
    public func isIn(_ range: ClosedRange<Value>) -> Clause where Value: Comparable {
        .range(path, from: range.lowerBound, through: range.upperBound)
    }

    /// Objects whose field has a value in the range, its upper limit excluded.
    public func isIn(_ range: Range<Value>) -> Clause where Value: Comparable {
        .range(path, from: range.lowerBound, through: range.upperBound, upperIncluded: false)
    }
}

extension Field {
    /// Arrays with an equal element.
    public func contains<Element>(_ element: Element) -> Clause where Value == [Element] {
        .contains(path, value: element)
    }

    /// Objects without the field, and those where it is null.
    public static func == (field: Field, nil: _OptionalNilComparisonType) -> Clause {
        !.hasField(field.path) || .hasField(field.path, andType: .null)
    }

    /// Objects that have the field with a value other than null.
    public static func != (field: Field, nil: _OptionalNilComparisonType) -> Clause {
        .hasField(field.path) && !.hasField(field.path, andType: .null)
    }

    /// Only makes the compiler explain a comparison with a value of another type.
    @available(*, unavailable, message: "a Field is compared with a value of its own type")
    public static func == <Other>(field: Field, value: Other) -> Clause { .all }

    /// Only makes the compiler explain a comparison with a value of another type.
    @available(*, unavailable, message: "a Field is compared with a value of its own type")
    public static func != <Other>(field: Field, value: Other) -> Clause { .all }
}

extension Field<String> {
    /// Objects whose field begins with this string.
    public func startsWith(_ prefix: String) -> Clause { .startsWith(path, value: prefix) }

    /// Strings that contain this string.
    public func contains(_ part: String) -> Clause { .contains(path, value: part) }
}

extension Field<[GeoPoint]> {
    /// Objects with a point within a distance in metres of a centre; the nearest point's distance is
    /// reported.
    public func isWithin(
        _ radius: Double, of center: GeoPoint, putDistanceInto name: String? = nil
    ) -> Clause {
        Field<GeoPoint>(path).isWithin(radius, of: center, putDistanceInto: name)
    }
}

extension Field<GeoPoint> {
    /// Points within a distance in metres of a centre.
    public func isWithin(
        _ radius: Double, of center: GeoPoint, putDistanceInto name: String? = nil
    ) -> Clause {
        .geoDistance(path, center: center, radius: radius, putDistanceInto: name)
    }

    /// Points within a distance in metres to either side of a line of great-circle arcs.
    ///
    /// - Parameters:
    ///   - width: the distance to either side, in metres.
    ///   - line: the positions of the line, two or more.
    ///   - name: the name of the reported distance from the line, in metres.
    ///   - along: the name of the reported distance along the line, in metres.
    public func isWithin(
        _ width: Double, ofLine line: [GeoPoint], putDistanceInto name: String? = nil,
        putAlongInto along: String? = nil
    ) -> Clause {
        .geoCorridor(
            path, line: line, width: width, putDistanceInto: name, putAlongInto: along)
    }
}
