import Objects

/// An admitted request on its way to a node that holds its bucket.
struct Passage: Sendable {
    let bucket: BucketName
    /// The request as it came.
    let text: [UInt8]
    /// Whether it may be sent again after its answer was lost.
    let mayBeRepeated: Bool
}
