import JSONText

/// The order of the query language, written from the specification as a comparison of two values.
public enum OracleOrder {
    /// Negative, 0 or positive: null, booleans, numbers, strings, GeoPoints, arrays and objects.
    public static func compare(_ a: JSONValue, _ b: JSONValue) -> Int {
        let (rankA, rankB) = (rank(a), rank(b))
        if rankA != rankB { return rankA < rankB ? -1 : 1 }
        switch (a.nearest, b.nearest) {
        case (.bool(let x), .bool(let y)): return x == y ? 0 : (y ? -1 : 1)
        case (.number(let x), .number(let y)): return ExactNumber(x).compare(ExactNumber(y))
        case (.string(let x), .string(let y)): return compareStrings(x, y)
        case (.object, .object):
            guard let x = OraclePosition(a), let y = OraclePosition(b) else { return 0 }
            if x.latitude != y.latitude { return x.latitude < y.latitude ? -1 : 1 }
            if x.meridian != y.meridian { return x.meridian < y.meridian ? -1 : 1 }
            return 0
        default: return 0
        }
    }

    /// Of a field's values or their absence, which comes last whatever the direction.
    public static func compare(_ a: JSONValue?, _ b: JSONValue?, descending: Bool) -> Int {
        switch (a, b) {
        case (nil, nil): return 0
        case (nil, _): return 1
        case (_, nil): return -1
        case (let x?, let y?): return descending ? -compare(x, y) : compare(x, y)
        }
    }

    static func compareStrings(_ a: String, _ b: String) -> Int {
        let (x, y) = (JSONValue.codePoints(a), JSONValue.codePoints(b))
        if x == y { return 0 }
        return x.lexicographicallyPrecedes(y) ? -1 : 1
    }

    private static func rank(_ value: JSONValue) -> Int {
        switch value {
        case .null: 0
        case .bool: 1
        case .number, .digits: 2
        case .string: 3
        case .array: 5
        case .object: OraclePosition(value) == nil ? 5 : 4
        }
    }
}
