import BackendContract
import Objects

/// Renumbers the slots of a bucket with many holes.
struct CompactionJob: BucketJob {
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
        precondition(bucket.count == state.count, "a compaction that lost objects")
        state = bucket
    }

    func giveUp(_ columnRequests: ColumnRequests, of name: BucketName) {}
}
