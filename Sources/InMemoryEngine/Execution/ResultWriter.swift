import Backend
import Geodesy
import JSONText
import Objects
import QueryLanguage

/// Writes the objects of a page: stored bytes spliced in, distances and projections made.
struct ResultWriter {
    let execution: Execution
    let query: Query
    private let reported: [DistanceClause]
    /// Which of `reported` the matches know already.
    private let ranked: Int?
    private let fields: Set<[UInt8]>?

    init(execution: Execution, query: Query) {
        self.execution = execution
        self.query = query
        reported = execution.distances
        if case .distance(let name)? = query.order.first?.source {
            ranked = reported.firstIndex { $0.putDistanceInto == name }
        } else {
            ranked = nil
        }
        fields = query.fields.map(Set.init)
    }

    func write(_ match: Execution.Match, to writer: inout JSONWriter) throws(ServiceFailure) {
        if let fields {
            try writeProjection(match, fields, to: &writer)
        } else {
            writer.raw(try execution.document(of: match.slot).dropLast())
        }
        writeDistances(match, to: &writer)
        writer.byte(UInt8(ascii: "}"))
    }

    /// `_id` and the named members, without the closing brace.
    private func writeProjection(
        _ match: Execution.Match, _ fields: Set<[UInt8]>, to writer: inout JSONWriter
    ) throws(ServiceFailure) {
        writer.raw("{\"_id\":")
        writer.string(execution.state.id(of: match.slot))
        guard !fields.isEmpty else { return }
        let document = try execution.document(of: match.slot)
        do {
            for member in try execution.parser.parse(document).members {
                let name = Array(member.name)
                guard fields.contains(name), !name.elementsEqual("_id".utf8) else { continue }
                writer.byte(UInt8(ascii: ","))
                writer.raw(member.text)
            }
        } catch {
            throw ServiceFailure(.undefined, "a stored document is not JSON: \(error.message)")
        }
    }

    private func writeDistances(_ match: Execution.Match, to writer: inout JSONWriter) {
        var first = true
        for (place, clause) in reported.enumerated() {
            guard
                let distance = (place == ranked ? match.distance : nil)
                    ?? execution.distance(clause, of: match.slot)
            else { continue }
            first ? writer.raw(",\"_calculated\":{") : writer.byte(UInt8(ascii: ","))
            first = false
            writer.string(clause.putDistanceInto!)
            writer.byte(UInt8(ascii: ":"))
            writer.millionths(distance.micrometers)
        }
        if !first { writer.byte(UInt8(ascii: "}")) }
    }
}
