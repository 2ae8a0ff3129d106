import Objects

/// Keeps some buckets on this node for as long as it exists.
public final class BucketPin: Sendable {
    private let buckets: [BucketName]
    private let placement: any BucketPlacement

    /// Pins the buckets. Those that are held from then on stay.
    public init(_ buckets: [BucketName], in placement: any BucketPlacement) {
        (self.buckets, self.placement) = (buckets, placement)
        for bucket in buckets { placement.pin(bucket) }
    }

    deinit { for bucket in buckets { placement.unpin(bucket) } }
}
