import Objects
import PlainJSON

/// Parses the member `aggregations` of a query, or throws the first fault with its path.
struct AggregationParser {
    private let limits: Limits
    private var names: Set<String> = []

    init(limits: Limits) { self.limits = limits }

    /// The aggregations of an array; the paths of faults begin at `aggregations`.
    mutating func parse(_ view: JSONView) throws(ServiceFailure) -> [Aggregation] {
        guard view.kind == .array, view.count <= limits.aggregations else {
            throw ServiceFailure(
                .invalidInputData,
                "expected an array of at most \(limits.aggregations) aggregations",
                at: "aggregations")
        }
        var aggregations: [Aggregation] = []
        for (index, element) in zip(0..., view.elements) {
            aggregations.append(
                try ServiceFailure.inside("aggregations[\(index)]", try aggregation(element)))
        }
        return aggregations
    }

    private mutating func aggregation(_ view: JSONView) throws(ServiceFailure) -> Aggregation {
        var entry = try MemberReader(view)
        let function = try function(&entry)
        let name = try entry.string("putAggregationInto")
        try QueryParser.checkResultName(name, at: "putAggregationInto")
        guard names.insert(name).inserted else {
            throw entry.failure("putAggregationInto", "\(quoted(name)) is used already")
        }
        let aggregation = Aggregation(function, into: name)
        try entry.finish(as: "a \(aggregation.type)")
        return aggregation
    }

    private func function(
        _ entry: inout MemberReader
    ) throws(ServiceFailure) -> Aggregation.Function {
        let type = try entry.string("type")
        switch type {
        case "COUNT": return .count
        case "GROUP":
            let field = try field(&entry)
            let limit = try entry.optionalInt("limit", in: 1...limits.groupValues)
            return .group(
                field, limit: limit ?? min(Aggregation.defaultGroupLimit, limits.groupValues))
        default:
            guard let reduction = Aggregation.Reduction(rawValue: type) else {
                throw entry.failure(
                    "type",
                    "\(quoted(type)) is no aggregation; expected \"COUNT\", \"GROUP\", \"MIN\", "
                        + "\"MAX\", \"SUM\" or \"AVG\"")
            }
            return .reduce(try field(&entry), reduction)
        }
    }

    private func field(_ entry: inout MemberReader) throws(ServiceFailure) -> FieldPath {
        let utf8 = try entry.utf8("field")
        guard !utf8.elementsEqual("_calculated".utf8), !utf8.starts(with: "_calculated.".utf8)
        else {
            throw entry.failure(
                "field", "\"_calculated\" holds distances; expected a field of the objects")
        }
        return FieldPath(utf8: utf8)
    }
}
