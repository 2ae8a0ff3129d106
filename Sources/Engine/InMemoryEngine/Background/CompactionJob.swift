import BackendContract
import CoreMetrics
import Objects

/// Renumbers the slots of a bucket with many holes.
struct CompactionJob: BucketJob {
    /// How often a result was dropped because it did not have the bucket's objects, which is a fault.
    static let dropped = Counter(label: "geobucket_dropped_compactions_total")

    let numbering: UInt32
    let fields: [FieldPath] = []
    private var bucket: BucketState

    /// - Parameter bucket: a published state.
    init(_ bucket: BucketState) {
        numbering = bucket.numbering
        self.bucket = bucket
    }

    mutating func make(isStopped: () -> Bool) { bucket = bucket.compacted() }

    mutating func catchUp(_ written: BucketJobs.Written, _ state: BucketState) {
        for creation in written.keys.sorted() { bucket.adopt(creation, from: state) }
        bucket.columns.keepOnly(state.columns)
    }

    func install(in state: inout BucketState, _ columnRequests: ColumnRequests, of name: BucketName)
    {
        guard bucket.count == state.count else { return Self.dropped.increment() }
        let place = state.place
        state = bucket
        state.electPlace(after: place)
    }

    func giveUp(_ columnRequests: ColumnRequests, of name: BucketName) {}
}
