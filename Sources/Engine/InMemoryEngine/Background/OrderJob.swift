import BackendContract
import Objects
import PersistentStructures

/// Builds a column's order, or rebuilds one that changes have degraded.
struct OrderJob: BucketJob {
    let numbering: UInt32
    let fields: [FieldPath] = []
    private let ticket: BuildStages.Ticket
    private let field: FieldPath
    private let use: ColumnUse
    private let records: PersistentArray<BucketState.SlotRecord>
    /// The column, up to the state that the order has caught up with.
    private var column: Column
    private var index: OrderedIndex?

    /// Nil if the column does not exist, or if its order exists and is not worn.
    ///
    /// - Parameter state: a published state of the bucket.
    init?(_ build: BuildStages.Build, _ state: BucketState) {
        let field = build.parts[0].field
        guard let entry = state.columns.entries[field], entry.index?.isWorn ?? true else {
            return nil
        }
        numbering = state.numbering
        records = state.records
        self.field = field
        ticket = build.ticket
        use = entry.use
        column = entry.column
        index = entry.index
    }

    mutating func make(isStopped: () -> Bool) {
        index = index?.merged(column) ?? OrderedIndex(column) { records[Int($0)].isAlive }
    }

    mutating func catchUp(_ written: BucketJobs.Written, _ state: BucketState) {
        guard let entry = state.columns.entries[field], entry.use === use else { return }
        let next = entry.column
        for slot in written.keys.compactMap(state.slot(created:)) {
            if Int(slot) < column.slotCount {
                index!.remove(slot, column.cell(of: slot), in: next)
            }
            if state.records[Int(slot)].isAlive {
                index!.insert(slot, next.cell(of: slot), in: next)
            }
        }
        column = next
    }

    func install(in state: inout BucketState, _ columnRequests: ColumnRequests, of name: BucketName)
    {
        columnRequests.finishedOrder(ticket, ColumnName(bucket: name, field: field))
        guard let entry = state.columns.entries[field], entry.use === use else { return }
        state.columns.install(index!, of: field)
    }

    func giveUp(_ columnRequests: ColumnRequests, of name: BucketName) {
        columnRequests.giveUp(ticket, of: name)
    }
}
