import JSONText

/// The clauses of the query language on one object, written from the specification: a clause is
/// its JSON document, an object is its JSON. Slow, and without a thought of speed.
public enum OracleClause {
    /// True, false, or nil for unknown.
    public static func evaluate(_ clause: JSONValue, on object: JSONValue) -> Bool? {
        switch clause["type"]!.string! {
        case "all": return true
        case "and":
            let values = clause["clauses"]!.array!.map { evaluate($0, on: object) }
            if values.contains(false) { return false }
            return values.contains(nil) ? nil : true
        case "or":
            let values = clause["clauses"]!.array!.map { evaluate($0, on: object) }
            if values.contains(true) { return true }
            return values.contains(nil) ? nil : false
        case "not": return evaluate(clause["clause"]!, on: object).map { !$0 }
        case let type:
            let value = object.field(clause["field"]!.string!)
            if type == "hasField" { return hasField(value, clause["fieldType"]?.string) }
            return value.flatMap { leaf(type, clause, $0) }
        }
    }

    private static func leaf(_ type: String, _ clause: JSONValue, _ value: JSONValue) -> Bool? {
        switch type {
        case "eq": return equals(value, clause["value"]!)
        case "in":
            let values = clause["values"]!.array!.map { equals(value, $0) }
            if values.contains(true) { return true }
            return values.contains(nil) ? nil : false
        case "range": return range(clause, value)
        case "prefix":
            guard let text = value.string else { return nil }
            let prefix = JSONValue.codePoints(clause["prefix"]!.string!)
            return Array(JSONValue.codePoints(text).prefix(prefix.count)) == prefix
        case "contains": return contains(value, clause["value"]!)
        case "like": return value.string.map { OraclePattern(clause).matches($0) }
        default:
            guard let shape = OracleShape(clause) else {
                preconditionFailure("no clause of type \(type)")
            }
            let positions = OraclePosition.all(value)
            return positions.isEmpty ? nil : positions.contains(where: shape.contains)
        }
    }

    /// The distance that a clause measures to a value, in micrometres: to the nearest of its points.
    public static func distance(_ clause: JSONValue, _ value: JSONValue?) -> Int64? {
        guard let shape = OracleShape(clause) else { return nil }
        return OraclePosition.all(value).compactMap { shape.distance(to: $0) }.min()
    }

    /// What a clause reports of a value, in micrometres, by name: of the nearest of its points, and of
    /// several equally near of the first along the line.
    static func reports(_ clause: JSONValue, _ value: JSONValue?) -> [String: Int64] {
        guard let shape = OracleShape(clause) else { return [:] }
        let measured = OraclePosition.all(value).map {
            (distance: shape.distance(to: $0), along: shape.along(to: $0))
        }
        guard
            let nearest = measured.min(by: {
                ($0.distance ?? 0, $0.along ?? 0) < ($1.distance ?? 0, $1.along ?? 0)
            })
        else { return [:] }
        var reports: [String: Int64] = [:]
        if let name = clause["putDistanceInto"]?.string { reports[name] = nearest.distance }
        if let name = clause["putAlongInto"]?.string { reports[name] = nearest.along }
        return reports
    }

    /// A present value against one of a clause; unknown where their types cannot be compared.
    private static func equals(_ value: JSONValue, _ literal: JSONValue) -> Bool? {
        switch (literal.nearest, value.nearest) {
        case (.null, .null): return true
        case (.null, _): return false
        case (.bool(let a), .bool(let b)): return a == b
        case (.number(let a), .number(let b)):
            return ExactNumber(a).compare(ExactNumber(b)) == 0
        case (.string(let a), .string(let b)):
            return JSONValue.codePoints(a) == JSONValue.codePoints(b)
        case (.object, _):
            guard let position = OraclePosition(value) else { return nil }
            return OraclePosition(literal)!.isSame(as: position)
        default: return nil
        }
    }

    private static func range(_ clause: JSONValue, _ value: JSONValue) -> Bool? {
        var result = true
        for (limit, flag, side) in [
            ("lowerLimit", "lowerIncluded", 1), ("upperLimit", "upperIncluded", -1),
        ] {
            guard let limit = clause[limit] else { continue }
            let order: Int
            switch (value.nearest, limit.nearest) {
            case (.number(let a), .number(let b)): order = ExactNumber(a).compare(ExactNumber(b))
            case (.string(let a), .string(let b)): order = OracleOrder.compareStrings(a, b)
            default: return nil
            }
            let isIncluded = clause[flag]?.bool ?? true
            if order * side < 0 || (order == 0 && !isIncluded) { result = false }
        }
        return result
    }

    private static func contains(_ value: JSONValue, _ part: JSONValue) -> Bool? {
        if let elements = value.array {
            return elements.contains { equals($0, part) == true }
        }
        guard let text = value.string, let part = part.string else { return nil }
        let (all, sought) = (JSONValue.codePoints(text), JSONValue.codePoints(part))
        return all.indices.contains { Array(all[$0...].prefix(sought.count)) == sought }
            || sought.isEmpty
    }

    private static func hasField(_ value: JSONValue?, _ type: String?) -> Bool {
        guard let value else { return false }
        guard let type else { return true }
        return value.fieldType == type
    }

    /// Every clause of a tree that has a distance reported.
    static func reportingClauses(_ clause: JSONValue) -> [JSONValue] {
        switch clause["type"]!.string! {
        case "and", "or": clause["clauses"]!.array!.flatMap(reportingClauses)
        case "not": reportingClauses(clause["clause"]!)
        default:
            clause["putDistanceInto"] == nil && clause["putAlongInto"] == nil ? [] : [clause]
        }
    }
}

extension JSONValue {
    /// The type by which `hasField` knows the value.
    public var fieldType: String {
        switch self {
        case .null: "NULL"
        case .bool: "BOOLEAN"
        case .number, .digits: ExactNumber(number!).isWhole ? "INTEGER" : "DECIMAL"
        case .string: "STRING"
        case .array: "ARRAY"
        case .object: OraclePosition(self) == nil ? "OBJECT" : "GEOPOINT"
        }
    }
}
