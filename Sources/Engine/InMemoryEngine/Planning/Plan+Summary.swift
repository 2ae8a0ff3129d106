import Objects
import QueryLanguage

extension Plan {
    /// The plan in sentences for people to read.
    func summary(passedOver others: some Sequence<Plan>) -> [String] {
        var lines = ["\(path.sentence), about \(candidates) candidates"]
        if !filterClauses.isEmpty {
            let list = filterClauses.map(\.description).joined(separator: " AND ")
            lines.append("of those, by points and columns: \(list)")
        }
        if documentFilter != .all {
            lines.append(
                "of those, by reading about \(documents) documents: \(documentFilter.description)")
        }
        switch ordering {
        case .found: lines.append("in order as found: a page stops when it is full")
        case .ranked: lines.append("then put in order, the best of a page kept")
        case .documents:
            lines.append("then put in order by values read from about \(documents) documents")
        case .unordered: break
        }
        if !aggregated.inColumns.isEmpty {
            lines.append("aggregated by columns: \(Self.list(aggregated.inColumns))")
        }
        if !aggregated.inDocuments.isEmpty {
            lines.append(
                "aggregated by reading about \(documents) documents: "
                    + Self.list(aggregated.inDocuments))
        }
        lines.append("about \(Self.duration(cost))")
        let passed = others.map { "\($0.path.name) (\(Self.duration($0.cost)))" }
        if !passed.isEmpty { lines.append("passed over: " + passed.joined(separator: ", ")) }
        return lines
    }

    private static func duration(_ microseconds: Double) -> String {
        microseconds < 1_000
            ? "\(Int(microseconds.rounded(.up))) µs"
            : "\(Int((microseconds / 1_000).rounded(.up))) ms"
    }
}

extension AccessPath {
    fileprivate var sentence: String {
        let name = field?.text ?? ""
        switch self {
        case .nothing: return "nothing can match"
        case .ids(let slots): return "the \(slots.count) objects of the ids"
        case .geo(let clause, _): return clause.shape.points(of: name)
        case .nearest: return "the points of \(name), nearest first"
        case .lookup: return "a range of the order of \(name)"
        case .ordered(_, let descending):
            return "all objects in the order of \(name), \(descending ? "downwards" : "upwards")"
        case .union(let paths):
            return "together: " + paths.map(\.sentence).joined(separator: "; ")
        case .scan: return "all objects in the order of creation"
        }
    }
}

extension Plan {
    /// The plan in one line without the values that the query looks for: `nearest location, filters
    /// category, rating; in order as found`.
    var outline: String {
        var text = path.name
        if let field = path.field { text += " \(shortened(field.text))" }
        let filtered = Self.list(filterClauses.flatMap(\.fields))
        if !filtered.isEmpty { text += ", filters \(filtered)" }
        let read = Self.list(documentFilter.fields + self.aggregated.inDocuments)
        if !read.isEmpty { text += ", reads documents for \(read)" }
        let aggregated = Self.list(aggregated.all)
        if !aggregated.isEmpty { text += ", aggregates \(aggregated)" }
        if case .unordered = ordering { return text }
        return text + "; in order \(ordering.name)"
    }

    /// The number of fields that an outline names. A query may have hundreds, and an outline is one
    /// line.
    private static let outlineFields = 10

    /// The distinct fields, and how many more there are.
    private static func list(_ fields: some Sequence<FieldPath>) -> String {
        let names = Set(fields.map(\.text)).sorted()
        let more = names.count - outlineFields
        return names.prefix(outlineFields).map { shortened($0, limit: 100) }.joined(separator: ", ")
            + (more > 0 ? " and \(more) more" : "")
    }
}
