import BackendContract
import JSONText
import Objects
import PersistentStructures
import SpatialIndex

/// Writes the objects of a page. It copies stored bytes and writes distances and projections.
///
/// The data of each object is scattered in memory. It is therefore collected for all objects in
/// short loops, so that the processor can wait for many memory accesses at once.
struct PageWriter {
    private let execution: Execution
    private let slots: [Slot]
    /// The records of all objects if their documents are needed, and otherwise none.
    private let records: [BucketState.SlotRecord]
    private let fields: NamedMembers?
    private let reports: DistanceReports

    init(_ execution: Execution, _ matches: [Execution.Match]) {
        self.execution = execution
        fields = execution.planned.query.fields.map(NamedMembers.init)
        reports = DistanceReports(execution, matches)
        slots = matches.map(\.slot)
        records = fields?.isEmpty == true ? [] : execution.state.records.fetch(slots)
    }

    /// Whether members of documents are written, which have to be parsed for it.
    var parses: Bool { fields?.isEmpty == false }

    /// Whether so many documents are missing from memory, or so many bytes of them have to be parsed,
    /// that a thread which other requests wait for should not write the objects.
    var isCostly: Bool {
        if !parses, records.count <= Self.fewReads { return false }
        let (missing, bytes) = execution.engine.cache.holdings(of: records, few: Self.fewReads)
        return missing > Self.fewReads || parses && bytes > Self.fewBytes
    }

    /// The time to read a document is ten microseconds for the usual size and fifty for the
    /// largest.
    private static let fewReads = 16
    /// The bytes that are usually parsed in a quarter of a millisecond.
    private static let fewBytes = 128 * 1_024

    /// Appends the objects, with commas between them, until they exceed a limit of bytes.
    ///
    /// - Returns: the end of each object.
    func write(to writer: inout JSONWriter, limit: Int) throws(ServiceFailure) -> [Int] {
        if let fields {
            return fields.isEmpty
                ? writeIDs(to: &writer, limit)
                : try writeProjections(fields, to: &writer, limit)
        }
        var own: [Int: [UInt8]] = [:]  // documents that are not cached, by position
        while true {
            var ends: [Int] = []
            let missing = execution.engine.cache.withDocuments(of: records) { cached in
                let missing = cached.indices.filter { cached[$0] == nil && own[$0] == nil }
                if missing.isEmpty { ends = splice(cached, own, to: &writer, limit) }
                return missing
            }
            if missing.isEmpty { return ends }
            let read = try execution.engine.documents(
                of: missing.map { records[$0] }, in: execution.snapshot)
            for (position, document) in zip(missing, read) { own[position] = document }
        }
    }

    private func splice(
        _ cached: [DocumentCache.Document?], _ own: [Int: [UInt8]], to writer: inout JSONWriter,
        _ limit: Int
    ) -> [Int] {
        writeEach(to: &writer, limit) { position, writer in
            if let document = cached[position] {
                splice(document, position, to: &writer)
            } else {
                own[position]!.withUnsafeBufferPointer { splice($0, position, to: &writer) }
            }
        }
    }

    private func splice(
        _ document: DocumentCache.Document, _ position: Int, to writer: inout JSONWriter
    ) {
        writer.write(atMost: document.count + reports.roomBytes) { cursor in
            cursor.raw(DocumentCache.Document(rebasing: document.dropLast()))
            reports.writeEnd(of: position, to: &cursor)
        }
    }

    private func writeIDs(to writer: inout JSONWriter, _ limit: Int) -> [Int] {
        let ids = execution.state.ids(of: slots)
        return writeEach(to: &writer, limit) { position, writer in
            let room = Self.idBytes + ids[position].count + reports.roomBytes
            writer.write(atMost: room) { cursor in
                Self.write(ids[position], to: &cursor)
                reports.writeEnd(of: position, to: &cursor)
            }
        }
    }

    /// Writes `_id` and the named members.
    private func writeProjections(
        _ fields: NamedMembers, to writer: inout JSONWriter, _ limit: Int
    ) throws(ServiceFailure) -> [Int] {
        let ids = execution.state.ids(of: slots)
        let documents = try execution.engine.documents(of: records, in: execution.snapshot)
        return try writeEach(to: &writer, limit) { position, writer throws(ServiceFailure) in
            try execution.allow(WorkBudget.parsing(documents[position].count))
            writer.write(atMost: Self.idBytes + ids[position].count) {
                Self.write(ids[position], to: &$0)
            }
            try writeMembers(fields, of: documents[position], to: &writer)
            writer.write(atMost: reports.roomBytes) { reports.writeEnd(of: position, to: &$0) }
        }
    }

    /// The number of bytes around an id.
    private static let idBytes = 9

    /// Begins an object with its id. An id has no character that JSON would escape.
    @inline(__always)
    private static func write(_ id: Bytes, to cursor: inout JSONCursor) {
        cursor.raw("{\"_id\":\"")
        cursor.raw(id)
        cursor.byte(UInt8(ascii: "\""))
    }

    private func writeMembers(
        _ fields: NamedMembers, of document: [UInt8], to writer: inout JSONWriter
    ) throws(ServiceFailure) {
        for member in try execution.parsed(document).members {
            guard fields.contains(member.name) else { continue }
            writer.byte(UInt8(ascii: ","))
            writer.raw(member.text)
        }
    }

    /// Calls `body` for each object and writes commas between them, until they exceed a limit of
    /// bytes.
    ///
    /// - Returns: the end of each object.
    @inline(__always)
    private func writeEach<Failure: Error>(
        to writer: inout JSONWriter, _ limit: Int,
        _ body: (_ position: Int, _ writer: inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) -> [Int] {
        let start = writer.count
        var ends: [Int] = []
        ends.reserveCapacity(slots.count)
        for position in slots.indices {
            if position > 0 { writer.byte(UInt8(ascii: ",")) }
            try body(position, &writer)
            ends.append(writer.count)
            if writer.count - start > limit { break }
        }
        return ends
    }
}

/// The members of objects that a query names.
private struct NamedMembers {
    /// Up to so many are compared one by one.
    private static let fewNames = 8

    private let few: [[UInt8]]
    /// Empty if they are few.
    private let many: Set<[UInt8]>

    init(_ names: [[UInt8]]) {
        (few, many) = names.count <= Self.fewNames ? (names, []) : ([], Set(names))
    }

    var isEmpty: Bool { few.isEmpty && many.isEmpty }

    func contains(_ name: Bytes) -> Bool {
        many.isEmpty
            ? few.contains { name.elementsEqualBytes($0) } : many.contains(Array(name))
    }
}
