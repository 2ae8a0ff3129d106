import BackendContract
import Objects

/// Documents as they are now, or as they were at some moment.
public protocol PresentDocuments: Sendable {
    /// The document of an object as clients read it, and the number of the change that wrote it;
    /// nil if the object does not exist.
    ///
    /// - Throws: also if the object is damaged.
    func document(
        creation: ChangeNumber
    ) throws(ServiceFailure) -> (change: ChangeNumber, text: [UInt8])?
}

/// The source of documents that are not in memory: the store.
public protocol DocumentSource: PresentDocuments {
    /// The results of `document(creation:)` for several objects, which are read together.
    func documents(
        creations: [ChangeNumber]
    ) throws(ServiceFailure) -> [(change: ChangeNumber, text: [UInt8])?]

    /// Calls `body` with every document of a bucket at one state, as clients read them, in no
    /// particular order, until it returns false. Damaged objects are skipped.
    ///
    /// - Complexity: O(objects of all buckets).
    func forEachDocument(
        in bucket: BucketName, _ body: (_ creation: ChangeNumber, _ document: [UInt8]) -> Bool
    ) throws(ServiceFailure)
}

extension DocumentSource {
    /// Reads the documents one by one, for sources without a faster way.
    public func documents(
        creations: [ChangeNumber]
    ) throws(ServiceFailure) -> [(change: ChangeNumber, text: [UInt8])?] {
        var found: [(change: ChangeNumber, text: [UInt8])?] = []
        for creation in creations { found.append(try document(creation: creation)) }
        return found
    }
}
