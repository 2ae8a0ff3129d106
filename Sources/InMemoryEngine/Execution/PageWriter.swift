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
    private let reports: [Report]

    /// A distance that `_calculated` tells.
    private struct Report {
        /// Its name as a member begins: `"d":`.
        let label: [UInt8]
        /// Match by match.
        let distances: [Distance?]
    }

    /// - Parameter limit: bytes after which no other object is begun.
    init(_ execution: Execution, _ query: Query, _ matches: [Execution.Match], limit: Int) {
        self.execution = execution
        self.matches = matches
        self.limit = limit
        fields = query.fields.map(Set.init)
        let reported = execution.distances
        var known = reported.count == 1 ? 0 : nil
        if case .distance(let name)? = query.order.first?.source {
            known = reported.firstIndex { $0.putDistanceInto == name }
        }
        reports = reported.enumerated().map { number, clause in
            var label = JSONWriter()
            label.string(clause.putDistanceInto!)
            label.byte(UInt8(ascii: ":"))
            let isKnown = number == known && matches.allSatisfy { $0.distance != nil }
            return Report(
                label: label.bytes,
                distances: isKnown
                    ? matches.map(\.distance)
                    : Self.distances(clause, of: matches, in: execution.state))
        }
    }

    private static func distances(
        _ clause: DistanceClause, of matches: [Execution.Match], in state: BucketState
    ) -> [Distance?] {
        guard let index = state.fields[clause.field] else { return matches.map { _ in nil } }
        var slots = matches.map(\.slot)
        var places: [Coordinate?] = []
        places.reserveCapacity(slots.count)
        slots.withUnsafeMutableBufferPointer {
            index.forEachPosition(of: $0) { places.append($0) }
        }
        return places.map { $0.map(clause.distance) }
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
        for number in reports.indices {
            guard let distance = reports[number].distances[place] else { continue }
            writer.raw(isFirst ? ",\"_calculated\":{" : ",")
            isFirst = false
            writer.raw(reports[number].label)
            writer.millionths(distance.micrometers)
        }
        if !isFirst { writer.byte(UInt8(ascii: "}")) }
        writer.byte(UInt8(ascii: "}"))
    }
}
