import Backend
import Objects

/// Where an engine finds a document that is not in memory: the store.
public protocol DocumentSource: Sendable {
    /// The present document of an object as clients read it, and the number of the change that
    /// wrote it; nil when the object is gone.
    func document(
        creation: ChangeNumber
    ) throws(ServiceFailure) -> (change: ChangeNumber, text: [UInt8])?
}
