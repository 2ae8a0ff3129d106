import JSONText
import Objects

/// An object before a write.
public struct PresentObject {
    /// The change that created the object.
    public let creation: ChangeNumber
    /// The number of the object's latest change.
    public let change: ChangeNumber
    /// The object's id, times, version, owner, data type and expiry, as in the document.
    public let metadata: ObjectMetadata
    /// The object as clients read it.
    public let document: [UInt8]

    /// Stores its arguments. The metadata has to match the document.
    public init(
        creation: ChangeNumber, change: ChangeNumber, metadata: ObjectMetadata, document: [UInt8]
    ) {
        self.creation = creation
        self.change = change
        self.metadata = metadata
        self.document = document
    }

    /// Reads the metadata from a document as clients read it; nil if the document lacks a field
    /// that the service writes.
    public init?(
        creation: ChangeNumber, change: ChangeNumber, document: [UInt8], _ parser: JSONParser
    ) {
        guard let view = try? parser.parse(document), let metadata = ObjectMetadata(view) else {
            return nil
        }
        self.init(creation: creation, change: change, metadata: metadata, document: document)
    }
}

/// The object that a store holds under an id.
public enum FoundObject {
    /// An undamaged object, which may have expired.
    case whole(PresentObject)
    /// A damaged object. It can be deleted; any other operation on it fails.
    case damaged(creation: ChangeNumber, failure: any Error)

    /// - Throws: the failure if the object is damaged.
    func whole() throws -> PresentObject {
        switch self {
        case .whole(let object): return object
        case .damaged(_, let failure): throw failure
        }
    }
}
