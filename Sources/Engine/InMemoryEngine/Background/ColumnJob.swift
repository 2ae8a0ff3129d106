import BackendContract
import Columns
import JSONText
import Objects
import PersistentStructures

/// Builds some columns of a bucket from its documents.
struct ColumnJob: BucketJob {
    let numbering: UInt32
    let fields: [FieldPath]
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
    private let records: PersistentArray<BucketState.SlotRecord>
    private var columns: [Column]

    /// - Parameter state: a published state of the bucket.
    init(
        _ fields: [FieldPath], of bucket: BucketName, _ state: BucketState,
        source: any DocumentSource, areFew: Bool, columnLimit: Int, documentsAtOnce: Int
    ) {
        numbering = state.numbering
        records = state.records
        self.fields = fields
        self.bucket = bucket
        self.source = source
        self.areFew = areFew
        self.columnLimit = columnLimit
        self.documentsAtOnce = documentsAtOnce
        columns = []
    }

    mutating func make(isStopped: () -> Bool) {
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
                columnRequests.forget(columnName, refused: true)
                continue
            }
            state.columns.add(column, of: field)
            columnRequests.installed(columnName, isVacant: column.isVacant)
        }
    }

    func giveUp(_ columnRequests: ColumnRequests, of name: BucketName) {
        for field in fields {
            columnRequests.forget(ColumnName(bucket: name, field: field), refused: false)
        }
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
        columnRequests.forget(ColumnName(bucket: bucket, field: unused), refused: false)
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

    private mutating func scan(_ isStopped: () -> Bool) throws(ServiceFailure) {
        let (parser, records) = (JSONParser(), records)
        var taken = 0
        try source.forEachDocument(in: bucket) { creation, document in
            take(records.slot(created: creation), document, parser)
            taken += 1
            return taken % documentsAtOnce > 0 || !isStopped()
        }
    }

    private mutating func lookUp(_ isStopped: () -> Bool) throws(ServiceFailure) {
        let parser = JSONParser()
        let slots = (0..<records.count).filter { records[$0].isAlive }
        for first in stride(from: 0, to: slots.count, by: documentsAtOnce) {
            guard !isStopped() else { return }
            let batch = slots[first..<min(first + documentsAtOnce, slots.count)]
            let stored = try source.documents(creations: batch.map { records[$0].creation })
            for (slot, stored) in zip(batch, stored) {
                if let stored { take(Slot(slot), stored.text, parser) }
            }
        }
    }
}
