import BackendContract
import PersistentStructures

/// A bucket without the objects that a deletion removes.
struct BucketRest {
    let recording: BucketJobs.Recording
    private(set) var state: BucketState
    /// The numbering of the slots that it was made from.
    private let numbering: UInt32

    init(_ recording: BucketJobs.Recording, without creations: [ChangeNumber]) {
        let whole = recording.snapshot.bucket(recording.bucket)!
        self.recording = recording
        numbering = whole.numbering
        state = whole.compacted()
        for creation in creations { state.delete(created: creation) }
    }

    /// Applies some writes. Their numbers ascend.
    ///
    /// - Parameters:
    ///   - whole: the bucket after them.
    ///   - creations: what is to be deleted, in ascending order.
    /// - Returns: false if the bucket has to be made again.
    mutating func apply(
        _ written: [ChangeNumber], _ whole: BucketState, without creations: [ChangeNumber]
    ) -> Bool {
        guard whole.numbering == numbering else { return false }
        for creation in written {
            let next = creations.indices.firstPosition { creations[$0] < creation }
            if next < creations.count, creations[next] == creation {
                if state.isAlive(created: creation) { state.delete(created: creation) }
            } else if !state.adopt(creation, from: whole) {
                return false
            }
        }
        state.columns.keepOnly(whole.columns)
        return state.count + creations.count == whole.count
    }
}
