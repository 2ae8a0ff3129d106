import BackendContract
import JSONText
import Objects
import PersistentStructures

/// Builds some columns of a bucket in one pass over its documents. If more are wanted when it has only
/// just begun, it ends, to begin anew with those too.
struct ColumnJob: BucketJob {
    let numbering: UInt32
    let fields: [FieldPath]
    private(set) var isMade = false
    private let ticket: BuildStages.Ticket
    private let bucket: BucketName
    private let source: any DocumentSource
    /// Whether the bucket holds so small a share of all objects that looking up each one is faster
    /// than a scan.
    private let areFew: Bool
    /// The maximum number of the bucket's columns. Columns of fields that no object has may be a
    /// quarter of them.
    private let columnLimit: Int
    /// The number of documents that are read between two checks whether the columns are still
    /// wanted.
    private let documentsAtOnce: Int
    /// Whether more columns of the bucket are wanted.
    private let isJoined: @Sendable () -> Bool
    private let records: PersistentArray<BucketState.SlotRecord>
    private var columns: [Column]

    /// The pass begins anew only before it has read one in so many of the documents. It does so once
    /// for each column that joins it, at most.
    private static let joinedShare = 8

    /// - Parameters:
    ///   - state: a published state of the bucket.
    ///   - isJoined: returns whether more columns of the bucket are wanted.
    init(
        _ build: BuildStages.Build, _ state: BucketState, source: any DocumentSource, areFew: Bool,
        columnLimit: Int, documentsAtOnce: Int, isJoined: @escaping @Sendable () -> Bool
    ) {
        numbering = state.numbering
        records = state.records
        fields = build.parts.map(\.field)
        ticket = build.ticket
        bucket = build.bucket
        self.source = source
        self.areFew = areFew
        self.columnLimit = columnLimit
        self.documentsAtOnce = documentsAtOnce
        self.isJoined = isJoined
        columns = []
    }

    mutating func make(isStopped: () -> Bool) {
        isMade = true
        columns = fields.map { _ in Column(slots: records.count) }
        for slot in 0..<records.count where !records[slot].isAlive { clear(Slot(slot)) }
        // Unreadable values stay unknown and the column stays unused. Queries report what is wrong.
        if areFew {
            try? lookUp(isStopped)
        } else {
            try? scan(isStopped)
        }
    }

    mutating func catchUp(_ written: BucketJobs.Written, _ state: BucketState) {
        for (creation, values) in written {
            guard let slot = state.slot(created: creation) else { continue }
            if state.records[Int(slot)].isAlive { set(slot, values) } else { clear(slot) }
        }
    }

    func install(in state: inout BucketState, _ columnRequests: ColumnRequests, of name: BucketName)
    {
        for (field, column) in zip(fields, columns) {
            let columnName = ColumnName(bucket: name, field: field)
            guard column.unknown == 0, makeRoom(for: column, in: &state, columnRequests) else {
                columnRequests.refused(ticket, columnName)
                continue
            }
            state.columns.add(column, of: field)
            columnRequests.installed(ticket, columnName, isVacant: column.isVacant)
        }
    }

    func giveUp(_ columnRequests: ColumnRequests, of name: BucketName) {
        columnRequests.giveUp(ticket, of: name, again: !isMade)
    }

    /// If a limit is reached, evicts a column that no query has used recently. Returns whether
    /// there is room.
    private func makeRoom(
        for column: Column, in state: inout BucketState, _ columnRequests: ColumnRequests
    ) -> Bool {
        let entries = state.columns.entries
        let vacant = entries.filter { $0.value.column.isVacant }
        let isFull = entries.count >= columnLimit
        guard isFull || column.isVacant && vacant.count >= max(columnLimit / 4, 1) else {
            return true
        }
        let candidates = isFull && vacant.isEmpty ? entries : vacant
        guard let unused = candidates.first(where: { !$0.value.use.takeChance() })?.key else {
            return false
        }
        state.columns.remove(unused)
        columnRequests.dropped(ColumnName(bucket: bucket, field: unused), refused: false)
        return true
    }

    // MARK: Reading

    private mutating func set(_ slot: Slot, _ values: [ColumnValue]) {
        for (number, value) in values.enumerated() { columns[number].set(slot, to: value) }
    }

    private mutating func clear(_ slot: Slot) {
        for number in columns.indices { columns[number].set(slot, to: Cell.missing) }
    }

    /// - Parameter slot: the object's slot; nil if the object did not exist when the job began.
    private mutating func take(_ slot: Slot?, _ document: [UInt8], _ parser: JSONParser) {
        guard let slot, let view = try? parser.parse(document) else { return }
        for (number, field) in fields.enumerated() {
            columns[number].set(slot, to: ColumnValue(field.value(in: view)))
        }
    }

    /// Whether to read on after so many documents. It looks whether the columns are still wanted, and
    /// whether others have joined them.
    private mutating func goesOn(after taken: Int, _ isStopped: () -> Bool) -> Bool {
        guard taken % documentsAtOnce == 0 else { return true }
        let isEarly = taken < records.count / Self.joinedShare
        if isEarly, fields.count < BuildStages.columnsAtOnce, isJoined() { isMade = false }
        return isMade && !isStopped()
    }

    private mutating func scan(_ isStopped: () -> Bool) throws(ServiceFailure) {
        let (parser, records) = (JSONParser(), records)
        var taken = 0
        try source.forEachDocument(in: bucket) { creation, document in
            take(records.slot(created: creation), document, parser)
            taken += 1
            return goesOn(after: taken, isStopped)
        }
    }

    private mutating func lookUp(_ isStopped: () -> Bool) throws(ServiceFailure) {
        let parser = JSONParser()
        let slots = (0..<records.count).filter { records[$0].isAlive }
        for first in stride(from: 0, to: slots.count, by: documentsAtOnce) {
            guard goesOn(after: first, isStopped) else { return }
            let batch = slots[first..<min(first + documentsAtOnce, slots.count)]
            let stored = try source.documents(creations: batch.map { records[$0].creation })
            for (slot, stored) in zip(batch, stored) {
                if let stored { take(Slot(slot), stored.text, parser) }
            }
        }
    }
}
