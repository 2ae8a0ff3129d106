import Backend
import JSONText
import ObjectStore
import Objects

/// An object as it is before a write.
struct PresentObject {
    let creation: ChangeNumber
    /// The number of its latest change.
    let change: ChangeNumber
    let metadata: ObjectMetadata
    /// The object as clients read it.
    let document: [UInt8]

    init(_ row: StoredRow) {
        creation = row.creation
        change = row.change
        metadata = row.metadata
        document = row.document
    }

    /// Of a document as clients read it; nil where it has not all that a service writes into it.
    init?(
        creation: ChangeNumber, change: ChangeNumber, document: [UInt8], _ parser: JSONParser
    ) {
        guard let view = try? parser.parse(document), let metadata = ObjectMetadata(view) else {
            return nil
        }
        self.creation = creation
        self.change = change
        self.metadata = metadata
        self.document = document
    }
}
