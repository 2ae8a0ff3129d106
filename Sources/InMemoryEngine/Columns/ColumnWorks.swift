import Backend
import Dispatch
import JSONText
import Objects
import SpatialIndex
import Synchronization

/// A field of a bucket that has a column, or is to have one.
public struct ColumnName: Hashable, Sendable {
    public let bucket: BucketName
    public let field: FieldPath

    public init(bucket: BucketName, field: FieldPath) {
        self.bucket = bucket
        self.field = field
    }
}

/// Columns and orders that queries have asked for, and the making of them beside the writer.
///
/// A column begins empty on the writer's thread, which from then on keeps it up; the documents are
/// read here, and their values handed to the writer in batches for the slots that still wait. An
/// order is made here of a snapshot's column; the writer adds what has changed since.
final class ColumnWorks: Sendable {
    /// What the writer is to do.
    enum Step {
        case begin(BucketName, [FieldPath])
        case fill(BucketName, [Filling], rows: [Row])
        case finish(BucketName, [Filling])
        case order(BucketName, Filling, OrderedIndex, of: Column)
    }

    /// A column that work is done for; another of the same field has another `use`.
    struct Filling {
        let field: FieldPath
        let use: ColumnUse
    }

    /// One object's values of the fields that are being filled.
    struct Row {
        let creation: ChangeNumber
        let values: [ColumnValue]
    }

    private struct State {
        var columns: Set<ColumnName> = []
        var orders: Set<ColumnName> = []
        var refused: [ColumnName: ContinuousClock.Instant] = [:]
        var hasChanged = false
        var steps: [Step] = []
        var running = 0
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "geobucket.columns", qos: .utility)
    /// Room for batches that the writer has not taken in. It begins with none and is then given some:
    /// a semaphore traps when it ends with less than it began with, as it would here on batches that
    /// nobody took in before the end.
    private let room = DispatchSemaphore(value: 0)
    private let source: any DocumentSource
    private let due: @Sendable () -> Void

    private static let rowsPerBatch = 1_024
    private static let batchesAhead = 8
    /// How long a column that did not fit is not tried again.
    private static let refusal = Duration.seconds(60)

    /// - Parameter due: called on any thread when there are steps for the writer.
    init(source: any DocumentSource, due: @escaping @Sendable () -> Void) {
        self.source = source
        self.due = due
        for _ in 0..<Self.batchesAhead { room.signal() }
    }

    /// Whether nothing is under way or waits for the writer.
    var isIdle: Bool { state.withLock { $0.running == 0 && $0.steps.isEmpty } }

    // MARK: Asking, on any thread

    /// Whether columns that are not there yet all will be.
    func isMaking(_ fields: Set<FieldPath>, of bucket: BucketName) -> Bool {
        guard !fields.isEmpty else { return false }
        return state.withLock { state in
            fields.allSatisfy { state.columns.contains(ColumnName(bucket: bucket, field: $0)) }
        }
    }

    func want(_ fields: some Collection<FieldPath>, of bucket: BucketName) {
        let isNew = state.withLock { state in
            let now = ContinuousClock.now
            let new = fields.filter { field in
                let place = ColumnName(bucket: bucket, field: field)
                if let until = state.refused[place], now < until { return false }
                return state.columns.insert(place).inserted
            }
            guard !new.isEmpty else { return false }
            state.steps.append(.begin(bucket, Array(new)))
            state.hasChanged = true
            return true
        }
        if isNew { due() }
    }

    /// - Parameter state: has the column, and tells which slots are alive.
    func wantOrder(of field: FieldPath, in state: BucketState, of bucket: BucketName) {
        guard let entry = state.columns.entries[field] else { return }
        let isNew = self.state.withLock { works in
            guard works.orders.insert(ColumnName(bucket: bucket, field: field)).inserted else {
                return false
            }
            works.running += 1
            return true
        }
        guard isNew else { return }
        queue.async { [self] in
            let index = OrderedIndex(entry.column) { state.records[Int($0)].isAlive }
            add(
                .order(bucket, Filling(field: field, use: entry.use), index, of: entry.column),
                ending: 1)
        }
    }

    // MARK: The writer's side

    func takeSteps() -> [Step] {
        state.withLock { state in
            defer { state.steps.removeAll() }
            return state.steps
        }
    }

    /// Reads the documents of columns that have begun.
    ///
    /// - Parameter few: the bucket's objects, if they are few among all.
    func fill(
        _ fillings: [Filling], of bucket: BucketName, few: PersistentArray<BucketState.SlotRecord>?
    ) {
        state.withLock { $0.running += 1 }
        queue.async { [self] in
            read(fillings, bucket, few)
            add(.finish(bucket, fillings), ending: 1)
        }
    }

    /// Says that a batch has been taken in.
    func filled() { room.signal() }

    /// The columns that were asked for and not refused.
    var places: Set<ColumnName> { state.withLock { $0.columns } }

    /// The columns that are worth remembering, if they are others than at the last call.
    func takeChangedPlaces() -> Set<ColumnName>? {
        state.withLock { state in
            guard state.hasChanged else { return nil }
            state.hasChanged = false
            return state.columns
        }
    }

    /// Lets everything of a bucket be asked for again.
    func forget(_ bucket: BucketName) {
        for place in places where place.bucket == bucket { forget(place, refused: false) }
    }

    /// Lets the orders of a bucket's columns be asked for again.
    func forgetOrders(of bucket: BucketName) {
        state.withLock { state in state.orders = state.orders.filter { $0.bucket != bucket } }
    }

    /// Lets a column be asked for again; one that did not fit not at once.
    func forget(_ place: ColumnName, refused: Bool) {
        state.withLock { state in
            state.columns.remove(place)
            state.orders.remove(place)
            state.refused[place] = refused ? .now + Self.refusal : nil
            state.hasChanged = true
        }
    }

    private func add(_ step: Step, ending: Int) {
        state.withLock {
            $0.steps.append(step)
            $0.running -= ending
        }
        due()
    }

    private func read(
        _ fillings: [Filling], _ bucket: BucketName, _ few: PersistentArray<BucketState.SlotRecord>?
    ) {
        let parser = JSONParser()
        var rows: [Row] = []
        func flush() {
            guard !rows.isEmpty else { return }
            room.wait()
            add(.fill(bucket, fillings, rows: rows), ending: 0)
            rows.removeAll(keepingCapacity: true)
        }
        func take(_ creation: ChangeNumber, _ document: [UInt8]) {
            guard let view = try? parser.parse(document) else { return }
            let values = fillings.map { ColumnValue($0.field.value(in: view)) }
            rows.append(Row(creation: creation, values: values))
            if rows.count == Self.rowsPerBatch { flush() }
        }
        // What cannot be read stays unknown, and the column unused: queries tell what is wrong.
        if let few {
            try? read(few, take)
        } else {
            try? source.forEachDocument(in: bucket, take)
        }
        flush()
    }

    /// Calls `body` with the documents of some objects, as they are now.
    private func read(
        _ records: PersistentArray<BucketState.SlotRecord>,
        _ body: (_ creation: ChangeNumber, _ document: [UInt8]) -> Void
    ) throws(ServiceFailure) {
        let creations = records.creations
        for first in stride(from: 0, to: creations.count, by: Self.rowsPerBatch) {
            let batch = Array(creations[first..<min(first + Self.rowsPerBatch, creations.count)])
            for (creation, stored) in zip(batch, try source.documents(creations: batch)) {
                if let stored { body(creation, stored.text) }
            }
        }
    }
}
