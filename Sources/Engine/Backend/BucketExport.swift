import JSONText
import Objects

/// One state of a bucket, read from beginning to end while writes go on; it keeps that state alive.
public protocol BucketExport: Sendable {
    /// Appends the next whole objects in the order of creation, with commas between them.
    ///
    /// - Parameter maximumBytes: what they may take; one object is appended even if it takes more.
    /// - Returns: whether there are more.
    func next(
        maximumBytes: Int, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool
}
