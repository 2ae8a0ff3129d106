import JSONText
import Objects

/// One state of a bucket, read from beginning to end while writes continue. The export keeps that
/// state alive.
public protocol BucketExport: Sendable {
    /// Appends the next whole objects in the order of creation, with commas between them.
    ///
    /// - Parameter maximumBytes: the most that the objects may occupy. One object is appended even
    ///   if it is larger.
    /// - Returns: whether more objects follow.
    func next(
        maximumBytes: Int, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool
}
