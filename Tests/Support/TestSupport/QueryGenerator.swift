import JSONText

/// One query as the service and as the oracle get it.
public struct GeneratedQuery: Sendable {
    /// The members of `bucketQuery`, JSON text.
    public var bucketQuery: String
    /// The member `fields`, with a comma before it, or nothing.
    public var fieldsMember: String
    public var oracle: OracleQuery
    public var clauseText: String
}

/// Queries over a bucket: a clause tree, an order of none to three keys, a projection.
public struct QueryGenerator {
    private let objects: ObjectGenerator

    public init(objects: ObjectGenerator) { self.objects = objects }

    public func query(on bucket: OracleBucket, _ random: inout SplitMix64) -> GeneratedQuery {
        var clauses = ClauseGenerator(objects: objects, bucket: bucket)
        switch random.below(14) {
        case 0, 10, 11: return nearest(&clauses, &random)
        case 1: return finish(clauses.box(&random), order: [], &random)
        case 2: return finish(clauses.ids(&random), order: [], &random)
        case 9: return finish(clauses.polygon(&random), order: keys(clauses, &random), &random)
        case 12: return along(&clauses, &random)
        case 13:
            let clause = clauses.corridor(&random)
            return finish(clause, order: keys(clauses, &random), &random)
        case 3:
            let circle = clauses.distance(&random)
            let clause = ClauseGenerator.list("and", [circle, clauses.clause(depth: 2, &random)])
            return finish(clause, order: keys(clauses, &random), &random)
        case 4:
            let clause = union(&clauses, &random)
            return finish(clause, order: keys(clauses, &random), &random)
        default:
            let clause = clauses.clause(depth: 1 + random.below(5), &random)
            return finish(clause, order: keys(clauses, &random), &random)
        }
    }

    /// Alternatives that an index knows each, one of them with more to be true; perhaps negated twice.
    private func union(
        _ clauses: inout ClauseGenerator, _ random: inout SplitMix64
    ) -> JSONValue {
        let both = ClauseGenerator.list(
            "and", [clauses.box(&random), clauses.clause(depth: 2, &random)])
        let either = ClauseGenerator.list(
            "or", [clauses.distance(&random), both, clauses.ids(&random)])
        guard random.oneIn(3) else { return either }
        return ClauseGenerator.not(ClauseGenerator.not(either))
    }

    /// What a nearest-first walk can answer, alone or with more to be true.
    private func nearest(
        _ clauses: inout ClauseGenerator, _ random: inout SplitMix64
    ) -> GeneratedQuery {
        var clause = clauses.distance(into: true, &random)
        let order = [(field: "_calculated.d0", descending: random.oneIn(5))]
        if random.oneIn(2) {
            clause = ClauseGenerator.list("and", [clause, clauses.clause(depth: 2, &random)])
        }
        return finish(clause, order: order, &random)
    }

    /// Along a line, or nearest to it; alone or with more to be true, or negated.
    private func along(
        _ clauses: inout ClauseGenerator, _ random: inout SplitMix64
    ) -> GeneratedQuery {
        var clause = clauses.corridor(into: true, &random)
        let order = ["_calculated.d1", "_calculated.d0"].prefix(1 + random.below(2)).map {
            (field: $0, descending: random.oneIn(4))
        }
        switch random.below(4) {
        case 0:
            clause = ClauseGenerator.list("and", [clause, clauses.clause(depth: 2, &random)])
        case 1: clause = ClauseGenerator.not(clause)
        default: break
        }
        return finish(clause, order: random.oneIn(2) ? order : order.reversed(), &random)
    }

    private func keys(
        _ clauses: ClauseGenerator, _ random: inout SplitMix64
    ) -> [(field: String, descending: Bool)] {
        let fields =
            ObjectGenerator.paths + ["alt", "tags", "_created"]
            + clauses.names.map { "_calculated.\($0)" }
        return (0..<random.below(4)).map { _ in (random.pick(fields), random.oneIn(2)) }
    }

    private func finish(
        _ clause: JSONValue, order: [(field: String, descending: Bool)],
        _ random: inout SplitMix64
    ) -> GeneratedQuery {
        var members = ["\"clause\":\(clause.text)"]
        if order.count == 1, random.oneIn(2) {
            members.append("\"orderBy\":\(JSONValue.string(order[0].field).text)")
            if order[0].descending { members.append("\"descending\":true") }
        } else if !order.isEmpty {
            let keys = order.map {
                "{\"field\":\(JSONValue.string($0.field).text),\"descending\":\($0.descending)}"
            }
            members.append("\"orderBy\":[\(keys.joined(separator: ","))]")
        }
        var fields: [String]?
        if random.oneIn(4) {
            fields = (0..<random.below(4)).map { _ in random.pick(ObjectGenerator.paths) }
        }
        let list = fields.map { JSONValue.array($0.map(JSONValue.string)).text }
        return GeneratedQuery(
            bucketQuery: "{\(members.joined(separator: ","))}",
            fieldsMember: list.map { ",\"fields\":\($0)" } ?? "",
            oracle: OracleQuery(clause: clause, order: order, fields: fields),
            clauseText: clause.text)
    }
}
