import Objects

extension Query {
    /// The query in words for `queryDescription`, in the manner of a WHERE clause; cut when long.
    public var description: String {
        var text = "WHERE \(clause.description)"
        if !order.isEmpty {
            text += " ORDER BY " + order.map(\.description).joined(separator: ", ")
        }
        let limit = 1_000
        guard text.utf8.count > limit else { return text }
        return String(text.unicodeScalars.prefix(limit)) + "…"
    }
}

extension OrderKey {
    fileprivate var description: String {
        let name =
            switch source {
            case .field(let field): field.text
            case .distance(let name): "_calculated.\(name)"
            }
        return descending ? "\(name) DESC" : "\(name) ASC"
    }
}

extension Clause {
    /// The clause in the manner of a WHERE clause, for people to read.
    public var description: String {
        switch self {
        case .all: return "( 1 = 1 )"
        case .eq(let field, let value): return "( \(field.text) = \(value.description) )"
        case .range(let field, let range): return "( \(range.description(of: field.text)) )"
        case .prefix(let field, let prefix):
            return "( \(field.text) STARTS WITH \(Literal.string(prefix).description) )"
        case .isIn(let field, let values):
            let list = values.map(\.description).joined(separator: ", ")
            return "( \(field.text) IN ( \(list) ) )"
        case .hasField(let field, let type):
            return "( \(field.text) IS \(type?.rawValue ?? "PRESENT") )"
        case .geobox(let field, let box):
            return "( \(field.text) IN BOX \(box.south), \(box.west), \(box.north), \(box.east) )"
        case .geopolygon(let field, let polygon):
            return "( \(field.text) IN POLYGON OF \(polygon.positionCount) POSITIONS )"
        case .geodistance(let clause):
            let center = "\(clause.center.latitude), \(clause.center.longitude)"
            let radius = clause.radiusMeters.map { "\($0) m" } ?? "ANY DISTANCE"
            let model = clause.model == .sphere ? "" : " ON \(clause.model.rawValue.uppercased())"
            return "( \(clause.field.text) WITHIN \(radius) OF \(center)\(model) )"
        case .contains(let field, let value):
            return "( \(field.text) CONTAINS \(value.description) )"
        case .and(let clauses):
            return "( \(clauses.map(\.description).joined(separator: " AND ")) )"
        case .or(let clauses):
            return "( \(clauses.map(\.description).joined(separator: " OR ")) )"
        case .not(let clause): return "( NOT \(clause.description) )"
        }
    }
}

extension LiteralRange {
    fileprivate func description(of field: String) -> String {
        switch self {
        case .numbers(let lower, let upper):
            Self.bounds(
                field, lower.map { (.number($0.value), $0.included) },
                upper.map { (.number($0.value), $0.included) })
        case .strings(let lower, let upper):
            Self.bounds(
                field, lower.map { (.string($0.value), $0.included) },
                upper.map { (.string($0.value), $0.included) })
        }
    }

    private static func bounds(
        _ field: String, _ lower: (value: Literal, included: Bool)?,
        _ upper: (value: Literal, included: Bool)?
    ) -> String {
        let low = lower.map { "\(field) \($0.included ? ">=" : ">") \($0.value.description)" }
        let high = upper.map { "\(field) \($0.included ? "<=" : "<") \($0.value.description)" }
        return [low, high].compactMap(\.self).joined(separator: " AND ")
    }
}
