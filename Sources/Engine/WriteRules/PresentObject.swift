import Backend
import JSONText
import Objects

/// An object as it is before a write.
public struct PresentObject {
    /// The change that created it.
    public let creation: ChangeNumber
    /// The number of its latest change.
    public let change: ChangeNumber
    /// Its id, times, version, owner, data type and expiry, as the document has them.
    public let metadata: ObjectMetadata
    /// The object as clients read it.
    public let document: [UInt8]

    /// Stores its arguments; the metadata has to be that of the document.
    public init(
        creation: ChangeNumber, change: ChangeNumber, metadata: ObjectMetadata, document: [UInt8]
    ) {
        self.creation = creation
        self.change = change
        self.metadata = metadata
        self.document = document
    }

    /// Of a document as clients read it; nil where it has not all that a service writes into it.
    public init?(
        creation: ChangeNumber, change: ChangeNumber, document: [UInt8], _ parser: JSONParser
    ) {
        guard let view = try? parser.parse(document), let metadata = ObjectMetadata(view) else {
            return nil
        }
        self.init(creation: creation, change: change, metadata: metadata, document: document)
    }
}

/// What a store has of an id.
public enum FoundObject {
    case whole(PresentObject)
    /// It is not as it was written: it can be deleted, and fails whatever asks more of it.
    case damaged(creation: ChangeNumber, failure: any Error)

    /// - Throws: why there is only a damaged one.
    func whole() throws -> PresentObject {
        switch self {
        case .whole(let object): return object
        case .damaged(_, let failure): throw failure
        }
    }
}
