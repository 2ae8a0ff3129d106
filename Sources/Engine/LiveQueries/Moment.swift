import BackendContract
import JSONText
import Objects
import QueryLanguage

/// What readers see at some time: a state, without what has expired.
struct Moment: Sendable {
    let state: any PinnedState
    /// Milliseconds since 1970.
    let time: Int64

    var change: ChangeNumber { state.change }

    func bucket(_ name: BucketName) -> (any PinnedBucket)? { state.bucket(name, at: time) }

    func find(
        _ query: Query, in bucket: BucketName, atMost count: Int, until stop: StopSignal? = nil
    ) throws(ServiceFailure) -> any FoundObjects {
        try state.find(query, in: bucket, at: time, atMost: count, until: stop)
    }
}
