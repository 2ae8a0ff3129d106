import PlainJSON

/// How the objects of a watch are ordered.
enum WatchOrder: Sendable, Equatable {
    /// The first so many: the service says which place each object has.
    case ranking
    /// By these keys, then by creation, as a query's answer is.
    case keys([BucketQuery.SortKey])

    init(_ query: BucketQuery) {
        self = query.limit == 0 ? .keys(query.order) : .ranking
    }

    /// The values that an object is sorted by.
    ///
    /// - Parameter member: the value of a first-level name in the object.
    func values(_ member: (String) -> JSONValue?) -> [JSONValue?] {
        guard case .keys(let keys) = self else { return [] }
        return keys.map { Self.value(at: $0.field, member) }
    }

    /// The value at a path. A first-level name that is the whole path takes precedence.
    private static func value(
        at path: String, _ member: (String) -> JSONValue?
    ) -> JSONValue? {
        if let value = member(path) { return value }
        let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard names.count > 1 else { return nil }
        return names.dropFirst().reduce(member(names[0])) { value, name in value?[name] }
    }

    /// -1, 0 or 1: how an object with the first values stands to one with the second.
    func compare(_ a: [JSONValue?], _ b: [JSONValue?]) -> Int {
        guard case .keys(let keys) = self else { return 0 }
        for (position, key) in keys.enumerated() {
            let (a, b) = (a[position], b[position])
            // Objects without the field come last in both directions.
            guard let a, let b else {
                if a == nil, b == nil { continue }
                return a == nil ? 1 : -1
            }
            let order = Self.compare(a, b)
            if order != 0 { return key.isDescending ? -order : order }
        }
        return 0
    }

    /// The order of values: null, booleans, numbers, strings, points; arrays and objects are equal.
    static func compare(_ a: JSONValue, _ b: JSONValue) -> Int {
        let (first, second) = (kind(a), kind(b))
        guard first == second else { return first < second ? -1 : 1 }
        switch first {
        case .bool: return order(a.bool! ? 1 : 0, b.bool! ? 1 : 0)
        case .number: return order(a.number!, b.number!)
        case .string:
            // In UTF-8, the order of bytes is that of code points.
            if a.string!.utf8.lexicographicallyPrecedes(b.string!.utf8) { return -1 }
            return b.string!.utf8.lexicographicallyPrecedes(a.string!.utf8) ? 1 : 0
        case .point:
            let (a, b) = (a.geoPoint!, b.geoPoint!)
            let byLatitude = order(a.latitude, b.latitude)
            return byLatitude != 0 ? byLatitude : order(meridian(a), meridian(b))
        case .null, .other: return 0
        }
    }

    private enum ValueKind: Int, Comparable {
        case null, bool, number, string, point, other

        static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    private static func kind(_ value: JSONValue) -> ValueKind {
        switch value {
        case .null: .null
        case .bool: .bool
        case .number, .digits: .number
        case .string: .string
        case .array: .other
        case .object: value.geoPoint == nil ? .other : .point
        }
    }

    private static func order<Value: Comparable>(_ a: Value, _ b: Value) -> Int {
        a < b ? -1 : (b < a ? 1 : 0)
    }

    /// 180 and -180 are one meridian.
    private static func meridian(_ point: GeoPoint) -> Double {
        point.longitude == 180 ? -180 : point.longitude
    }
}
