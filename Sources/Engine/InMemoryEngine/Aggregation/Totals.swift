import JSONText
import Objects
import PersistentStructures
import QueryLanguage

/// What a query's aggregations need to know about its matches: their number, and a tally of each field.
struct Totals: Sendable {
    private(set) var count: Int
    private var columns: [FieldPath: ColumnTally] = [:]
    private var documents: [DocumentTally] = []
    // Two of the limits, because a copy of all of them takes longer than many a count.
    private let groupBytes: Int
    private let replyBytes: Int

    /// The totals of no objects.
    init(of query: Query, on state: BucketState, limits: Limits) {
        self.init(count: 0, limits: limits)
        for field in query.aggregatedFields {
            if let column = state.columns.ready(field) {
                columns[field] = ColumnTally(column, isGrouped: query.groups(by: field))
            } else {
                documents.append(DocumentTally(field, isGrouped: query.groups(by: field)))
            }
        }
    }

    /// The totals of so many objects of which no field is aggregated.
    init(count: Int, limits: Limits) {
        self.count = count
        (groupBytes, replyBytes) = (limits.groupBytes, limits.replyBytes)
    }

    /// The totals of all objects of a bucket; nil unless a column of each field counts its values.
    init?(allOf query: Query, in state: BucketState, limits: Limits) {
        self.init(count: state.count, limits: limits)
        for field in query.aggregatedFields {
            guard let column = state.columns.ready(field),
                let tally = ColumnTally(
                    allOf: column, holes: state.slotCount - state.count,
                    isGrouped: query.groups(by: field))
            else { return nil }
            columns[field] = tally
        }
    }

    /// Whether the documents of the matches have to be added.
    var readsDocuments: Bool { !documents.isEmpty }

    /// What it takes to rank and to write the distinct values, at most, by estimate; O(fields).
    var nanosecondsToWrite: Int {
        columns.values.reduce(0) { $0 + $1.mostValues * (60 + $1.averageBytes) }
            + documents.reduce(0) { $0 + $1.values.count * 60 + $1.valueBytes }
    }

    // MARK: Adding

    /// Adds some matches.
    mutating func add(_ slots: Slots) throws(ServiceFailure) {
        count += slots.count
        for position in columns.values.indices { columns.values[position].add(slots) }
        try check(columns.values.reduce(0) { $0 + $1.tableBytes })
    }

    /// Adds the document of a match that is also among the slots.
    mutating func add(_ document: JSONView) {
        for position in documents.indices { documents[position].add(document) }
    }

    /// Refuses groups that need too much memory.
    private func check(_ columnBytes: Int) throws(ServiceFailure) {
        let bytes = documents.reduce(columnBytes) { $0 + $1.valueBytes }
        guard bytes > groupBytes else { return }
        throw ServiceFailure(
            .queryNotSupported,
            "the fields of the GROUPs have too many distinct values: more than "
                + "\(groupBytes) bytes of them", at: "bucketQuery.aggregations")
    }

    // MARK: Results

    /// Appends an object with each aggregation's result under its name.
    ///
    /// - Parameter maximumBytes: the most that the object may occupy if it has groups.
    func write(
        _ aggregations: [Aggregation], maximumBytes: Int, to writer: inout JSONWriter
    ) throws(ServiceFailure) {
        try check(columns.values.reduce(0) { $0 + $1.valueBytes })
        let end = writer.count + maximumBytes - 1
        writer.byte(UInt8(ascii: "{"))
        for (position, aggregation) in aggregations.enumerated() {
            if position > 0 { writer.byte(UInt8(ascii: ",")) }
            writer.string(aggregation.name)
            writer.byte(UInt8(ascii: ":"))
            do throws(ServiceFailure) {
                try write(aggregation.function, before: end, to: &writer)
            } catch {
                throw ServiceFailure(
                    error.reason, error.message, at: "bucketQuery.aggregations[\(position)]")
            }
        }
        writer.byte(UInt8(ascii: "}"))
    }

    private func write(
        _ function: Aggregation.Function, before end: Int, to writer: inout JSONWriter
    ) throws(ServiceFailure) {
        switch function {
        case .count: writer.integer(count)
        case .reduce(let field, let reduction):
            let numbers = columns[field]?.numbers ?? documentTally(field).numbers
            try numbers.write(reduction, to: &writer)
        case .group(let field, let limit):
            let maximumBytes = end - writer.count
            let isComplete: Bool
            if let tally = columns[field] {
                var groups = Groups(tally, limit: limit)
                isComplete = groups.write(to: &writer, maximumBytes: maximumBytes)
            } else {
                var groups = Groups(documentTally(field), limit: limit)
                isComplete = groups.write(to: &writer, maximumBytes: maximumBytes)
            }
            guard isComplete else {
                throw ServiceFailure(
                    .queryNotSupported,
                    "the groups make the answer longer than \(replyBytes) bytes; "
                        + "a lower \"limit\" makes it shorter")
            }
        }
    }

    private func documentTally(_ field: FieldPath) -> DocumentTally {
        documents.first { $0.field == field }!
    }
}

extension Query {
    fileprivate func groups(by field: FieldPath) -> Bool {
        aggregations.contains { $0.isGroup && $0.field == field }
    }
}
