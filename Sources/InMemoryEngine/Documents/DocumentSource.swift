import Backend
import Objects

/// Where an engine finds documents that are not in memory: the store.
public protocol DocumentSource: Sendable {
    /// The present document of an object as clients read it, and the number of the change that
    /// wrote it; nil when the object is gone.
    func document(
        creation: ChangeNumber
    ) throws(ServiceFailure) -> (change: ChangeNumber, text: [UInt8])?

    /// Calls `body` with every document of one state of a bucket, as clients read them, in no
    /// particular order.
    ///
    /// - Parameter objects: about how many there are.
    func forEachDocument(
        in bucket: BucketName, about objects: Int,
        _ body: (_ creation: ChangeNumber, _ document: [UInt8]) -> Void
    ) throws(ServiceFailure)
}
