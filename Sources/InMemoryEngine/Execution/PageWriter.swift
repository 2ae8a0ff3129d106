import Backend
import Geodesy
import JSONText
import Objects
import QueryLanguage
import SpatialIndex

/// Writes the objects of a page: stored bytes spliced in, distances and projections made.
///
/// What it needs of each object lies far apart in memory, so it is collected for all of them in
/// short loops, in which the processor waits for many at a time.
struct PageWriter {
    private let execution: Execution
    private let matches: [Execution.Match]
    private let limit: Int
    private let fields: Set<[UInt8]>?
    private let reported: [DistanceClause]
    /// The places of the reported clauses' fields, match after match for each; empty where the
    /// match itself has the distance.
    private let places: [[Coordinate?]]

    /// - Parameter limit: bytes after which no other object is begun.
    init(_ execution: Execution, _ query: Query, _ matches: [Execution.Match], limit: Int) {
        self.execution = execution
        self.matches = matches
        self.limit = limit
        fields = query.fields.map(Set.init)
        reported = execution.distances
        var ranked: Int?
        if case .distance(let name)? = query.order.first?.source {
            ranked = reported.firstIndex { $0.putDistanceInto == name }
        }
        places = reported.enumerated().map { number, clause in
            if number == ranked, matches.allSatisfy({ $0.distance != nil }) { return [] }
            guard let index = execution.state.fields[clause.field] else {
                return matches.map { _ in nil }
            }
            var slots = matches.map(\.slot)
            var places: [Coordinate?] = []
            places.reserveCapacity(slots.count)
            slots.withUnsafeMutableBufferPointer {
                index.forEachPosition(of: $0) { places.append($0) }
            }
            return places
        }
    }

    /// Appends the objects, with commas between them, until they pass the limit.
    ///
    /// - Returns: where each ends.
    func write(to writer: inout JSONWriter) throws(ServiceFailure) -> [Int] {
        if let fields {
            return try writeProjections(fields, to: &writer)
        }
        let records = execution.state.records(of: matches.map(\.slot))
        var own = [[UInt8]?](repeating: nil, count: matches.count)
        while true {
            var ends: [Int] = []
            let missing = execution.engine.cache.withDocuments(of: records) { cached in
                let missing = cached.indices.filter { cached[$0] == nil && own[$0] == nil }
                if missing.isEmpty { ends = splice(cached, own, to: &writer) }
                return missing
            }
            if missing.isEmpty { return ends }
            for place in missing { own[place] = try execution.document(of: matches[place].slot) }
        }
    }

    private func splice(
        _ cached: [DocumentCache.Document?], _ own: [[UInt8]?], to writer: inout JSONWriter
    ) -> [Int] {
        let start = writer.count
        var ends: [Int] = []
        ends.reserveCapacity(matches.count)
        for place in matches.indices {
            if place > 0 { writer.byte(UInt8(ascii: ",")) }
            if let document = cached[place] {
                writer.raw(DocumentCache.Document(rebasing: document.dropLast()))
            } else {
                writer.raw(own[place]!.dropLast())
            }
            finish(place, to: &writer)
            ends.append(writer.count)
            if writer.count - start > limit { break }
        }
        return ends
    }

    /// `_id` and the named members.
    private func writeProjections(
        _ fields: Set<[UInt8]>, to writer: inout JSONWriter
    ) throws(ServiceFailure) -> [Int] {
        let start = writer.count
        let ids = execution.state.ids(of: matches.map(\.slot))
        var ends: [Int] = []
        ends.reserveCapacity(matches.count)
        for place in matches.indices {
            if place > 0 { writer.byte(UInt8(ascii: ",")) }
            // An id has no character that JSON would escape.
            writer.raw("{\"_id\":\"")
            writer.raw(ids[place])
            writer.byte(UInt8(ascii: "\""))
            if !fields.isEmpty { try writeMembers(fields, of: place, to: &writer) }
            finish(place, to: &writer)
            ends.append(writer.count)
            if writer.count - start > limit { break }
        }
        return ends
    }

    private func writeMembers(
        _ fields: Set<[UInt8]>, of place: Int, to writer: inout JSONWriter
    ) throws(ServiceFailure) {
        let document = try execution.document(of: matches[place].slot)
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

    /// The distances, where there are any, and the closing brace.
    private func finish(_ place: Int, to writer: inout JSONWriter) {
        var isFirst = true
        for (number, clause) in reported.enumerated() {
            let distance =
                places[number].isEmpty
                ? matches[place].distance : places[number][place].map(clause.distance)
            guard let distance else { continue }
            isFirst ? writer.raw(",\"_calculated\":{") : writer.byte(UInt8(ascii: ","))
            isFirst = false
            writer.string(clause.putDistanceInto!)
            writer.byte(UInt8(ascii: ":"))
            writer.millionths(distance.micrometers)
        }
        if !isFirst { writer.byte(UInt8(ascii: "}")) }
        writer.byte(UInt8(ascii: "}"))
    }
}
