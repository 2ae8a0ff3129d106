import Backend
import Objects

/// Documents as they are, or as they were at some moment.
public protocol PresentDocuments: Sendable {
    /// The document of an object as clients read it, and the number of the change that wrote it; nil
    /// when there is no such object.
    ///
    /// - Throws: for one that is not as it was written, too.
    func document(
        creation: ChangeNumber
    ) throws(ServiceFailure) -> (change: ChangeNumber, text: [UInt8])?
}

/// Where an engine finds documents that are not in memory: the store.
public protocol DocumentSource: PresentDocuments {
    /// What `document(creation:)` returns, of several objects, which are read together.
    func documents(
        creations: [ChangeNumber]
    ) throws(ServiceFailure) -> [(change: ChangeNumber, text: [UInt8])?]

    /// Calls `body` with every document of one state of a bucket, as clients read them, in no
    /// particular order, until it returns false; what is not as it was written is passed over.
    ///
    /// - Complexity: O(objects of all buckets).
    func forEachDocument(
        in bucket: BucketName, _ body: (_ creation: ChangeNumber, _ document: [UInt8]) -> Bool
    ) throws(ServiceFailure)
}

extension DocumentSource {
    /// Reads the documents one by one, for sources that have no faster way.
    public func documents(
        creations: [ChangeNumber]
    ) throws(ServiceFailure) -> [(change: ChangeNumber, text: [UInt8])?] {
        var found: [(change: ChangeNumber, text: [UInt8])?] = []
        for creation in creations { found.append(try document(creation: creation)) }
        return found
    }
}
