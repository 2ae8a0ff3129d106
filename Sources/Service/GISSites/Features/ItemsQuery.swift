import Geodesy
import JSONText
import Objects
import QueryLanguage
import WebExchange

/// What a request for features asks for.
package struct ItemsQuery: Sendable {
    static let usualLimit = 100
    package static let maximumLimit = 10_000
    static let crs84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"

    package let clause: Clause
    package let limit: Int
    let key: String?

    /// - Parameter shape: the collection; its properties are parameters too.
    /// - Throws: 400 for the first parameter at fault.
    package init(
        _ request: WebRequest, _ shape: CollectionShape, _ limits: Limits
    ) throws(WebFailure) {
        limit = try request["limit"].map(Self.limit) ?? Self.usualLimit
        key = request["key"]
        let box = try request["bbox"].map { text throws(WebFailure) in try BoxParameter(text).box }
        // Every place lies in the world's box, and what has none is unknown there.
        var clauses = [Clause.geo(GeoClause(shape.geoField, .box(box ?? .world)))]
        if let text = request["datetime"] { clauses += try Self.time(text) }
        if let system = request["filter-crs"], system != Self.crs84 {
            throw .invalid("the reference system of filters is \(Self.crs84)", at: "filter-crs")
        }
        let properties = Self.properties(of: request)
        let known = properties.isEmpty ? [] : shape.queryableNames
        for (name, value) in properties {
            guard known.contains(Array(name.utf8)) else {
                throw FeatureExchange.unknownParameter(name)
            }
            clauses.append(Self.equality(FieldPath(name), value))
        }
        let language = try request.filterLanguage(or: .cql2)
        if let text = request["filter"] {
            clauses.append(
                language == .expression
                    ? try WebRequest.expression(text) : try shape.clause(cql2: text, limits))
        }
        clause = try (clauses.count == 1 ? clauses[0] : .and(clauses)).checked(limits)
    }

    /// The parameters that are properties of the collection.
    static func properties(of request: WebRequest) -> [(name: String, value: String)] {
        request.query.filter { parameter in
            !QueryParameter.ofItems.contains { $0.name == parameter.name }
        }
    }

    private static func limit(_ text: String) throws(WebFailure) -> Int {
        try PageLimit.number(text, atMost: maximumLimit)
    }

    /// A property has the value that a text spells: the text itself, a number or a boolean.
    private static func equality(_ field: FieldPath, _ text: String) -> Clause {
        let parsed = try? JSONParser.reading(Array(text.utf8)) { view -> Literal? in
            view.number.map { .number($0) } ?? view.bool.map { .bool($0) }
        }
        guard let other = parsed ?? nil else { return .eq(field, .string(text)) }
        return .isIn(field, [.string(text), other])
    }

    /// `_modified` lies in an interval, or is an instant.
    private static func time(_ text: String) throws(WebFailure) -> [Clause] {
        let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        let ends = parts.map { part in
            (isOpen: part.isEmpty || part == "..", TimeSpan(String(part)))
        }
        let isValid =
            parts.count <= 2 && ends.allSatisfy { $0.1 != nil || $0.isOpen && parts.count == 2 }
        guard isValid, let start = ends.first, let end = ends.last else {
            throw .invalid(
                "expected a time such as 2026-01-31T12:00:00Z, or two with \"/\" between them, "
                    + "of which one may be \"..\"",
                at: "datetime")
        }
        // Of an instant between two milliseconds the first is the one after it.
        if let first = start.1, let last = end.1, parts.count == 2,
            min(first.first, first.last) > max(last.first, last.last)
        {
            throw .invalid("the interval ends before it begins", at: "datetime")
        }
        if start.1 == nil && end.1 == nil { return [] }
        let lower = start.1.map { LiteralRange.Limit(JSONNumber.integer($0.first)) }
        let upper = end.1.map { LiteralRange.Limit(JSONNumber.integer($0.last)) }
        return [.range(FieldPath("_modified"), .numbers(lower: lower, upper: upper))]
    }
}

/// `bbox=west,south,east,north`, or with heights.
private struct BoxParameter {
    let box: GeoBox

    init(_ text: String) throws(WebFailure) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        // `Double` also reads hexadecimal digits.
        let numbers = parts.filter { !$0.contains { "xX".contains($0) } }
            .compactMap { Double($0.trimmed) }.filter(\.isFinite)
        guard numbers.count == parts.count, numbers.count == 4 || numbers.count == 6 else {
            throw .invalid("expected 4 or 6 numbers: west, south, east, north", at: "bbox")
        }
        let half = numbers.count / 2
        let (west, south, east, north) = (numbers[0], numbers[1], numbers[half], numbers[half + 1])
        guard south <= north else {
            throw .invalid(
                "the corners are swapped: south \(south) lies north of north \(north)", at: "bbox")
        }
        guard south <= 90, north >= -90 else {
            throw .invalid("latitudes are within -90…90", at: "bbox")
        }
        // Maps that can be moved round the world tell longitudes beyond 180.
        guard abs(west) <= 540, abs(east) <= 540 else {
            throw .invalid("longitudes are within -180…180", at: "bbox")
        }
        let isWorld = east - west >= 360
        box = GeoBox(
            south: max(south, -90), west: isWorld ? -180 : Self.wrapped(west),
            north: min(north, 90), east: isWorld ? 180 : Self.wrapped(east))
    }

    private static func wrapped(_ longitude: Double) -> Double {
        longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude
    }
}
