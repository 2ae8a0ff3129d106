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
    private let reports: Reports

    /// The distances that `_calculated` tells.
    private struct Reports {
        /// The names, each as the first member begins: `,"_calculated":{"d":`.
        var labels: [UInt8] = []
        /// Where each label ends.
        var ends: [Int] = []
        /// What begins a label.
        static let opening: StaticString = ",\"_calculated\":{"
        /// Micrometres, match by match, of each label; negative where there is none.
        var micrometers: [Int64] = []
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
        var reports = Reports()
        var labels = JSONWriter()
        for (number, clause) in reported.enumerated() {
            labels.raw(Reports.opening)
            labels.string(clause.putDistanceInto!)
            labels.byte(UInt8(ascii: ":"))
            reports.ends.append(labels.count)
            let isKnown = number == known && matches.allSatisfy { $0.distance != nil }
            let distances =
                isKnown ? nil : Self.distances(clause, of: matches, in: execution.box)
            reports.micrometers.reserveCapacity(matches.count * reported.count)
            for place in matches.indices {
                let distance = distances.map { $0[place] } ?? matches[place].distance
                reports.micrometers.append(distance?.micrometers ?? -1)
            }
        }
        reports.labels = labels.bytes
        self.reports = reports
    }

    private static func distances(
        _ clause: DistanceClause, of matches: [Execution.Match], in bucket: BucketBox
    ) -> [Distance?] {
        guard let index = bucket.state.fields[clause.field] else { return matches.map { _ in nil } }
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
        let records = execution.box.state.records(of: matches.map(\.slot))
        var own = [[UInt8]?](repeating: nil, count: matches.count)
        while true {
            var ends: [Int] = []
            let missing = execution.engine.cache.withDocuments(of: records) { cached in
                let missing = cached.indices.filter { cached[$0] == nil && own[$0] == nil }
                if missing.isEmpty { ends = splice(cached, own, to: &writer) }
                return missing
            }
            if missing.isEmpty { return ends }
            let read = try execution.engine.documents(
                of: missing.map { records[$0] }, in: execution.snapshot)
            for (place, document) in zip(missing, read) { own[place] = document }
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
        let slots = matches.map(\.slot)
        let ids = execution.box.state.ids(of: slots)
        let documents =
            fields.isEmpty
            ? []
            : try execution.engine.documents(
                of: execution.box.state.records(of: slots), in: execution.snapshot)
        var ends: [Int] = []
        ends.reserveCapacity(matches.count)
        for place in matches.indices {
            if place > 0 { writer.byte(UInt8(ascii: ",")) }
            // An id has no character that JSON would escape.
            writer.raw("{\"_id\":\"")
            writer.raw(ids[place])
            writer.byte(UInt8(ascii: "\""))
            if !fields.isEmpty { try writeMembers(fields, of: documents[place], to: &writer) }
            finish(place, to: &writer)
            ends.append(writer.count)
            if writer.count - start > limit { break }
        }
        return ends
    }

    private func writeMembers(
        _ fields: Set<[UInt8]>, of document: [UInt8], to writer: inout JSONWriter
    ) throws(ServiceFailure) {
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
        var (isFirst, start) = (true, 0)
        for number in 0..<reports.ends.count {
            let micrometers = reports.micrometers[number * matches.count + place]
            let label = start..<reports.ends[number]
            start = label.upperBound
            guard micrometers >= 0 else { continue }
            if isFirst {
                writer.raw(reports.labels[label])
            } else {
                writer.byte(UInt8(ascii: ","))
                writer.raw(reports.labels[label.dropFirst(Reports.opening.utf8CodeUnitCount)])
            }
            isFirst = false
            writer.millionths(micrometers)
        }
        writer.raw(isFirst ? "}" : "}}")
    }
}
