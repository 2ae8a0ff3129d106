import Objects

/// An admitted request on its way to a node that holds its bucket.
struct Passage: Sendable {
    let bucket: BucketName
    /// The request as it came.
    let text: [UInt8]
    /// Whether it may be sent again after its answer was lost.
    let mayBeRepeated: Bool
    /// Whether it begins an export, which goes on at the same node.
    var beginsExport = false
    /// The id of the one node that can carry it out; nil for any that holds the bucket.
    var node: String?
}
