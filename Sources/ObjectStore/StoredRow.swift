import Backend
import GRDB
import Objects

/// One row of the object table.
public struct StoredRow: Sendable {
    public let creation: ChangeNumber
    public let change: ChangeNumber
    public let metadata: ObjectMetadata
    /// The stored document: minified JSON without predefined fields.
    public let text: [UInt8]

    /// The object as clients read it.
    public var document: [UInt8] { metadata.document(around: text) }

    static let columns =
        "creation, change, id, created, modified, version, owner, data_type, document, "
        + "(SELECT time FROM expiry WHERE expiry.creation = object.creation)"

    init(_ row: SQLStatement) {
        creation = ChangeNumber(row.int(0))
        change = ChangeNumber(row.int(1))
        metadata = ObjectMetadata(
            id: ObjectID(trusted: row.text(2) ?? ""), created: row.int(3), modified: row.int(4),
            version: row.int(5), owner: row.text(6), dataType: row.text(7),
            expires: row.optionalInt(9))
        text = row.bytes(8).map { Array($0) } ?? []
    }

    static func select(_ db: Database, creation: ChangeNumber) throws -> StoredRow? {
        try SQLStatement(db, "SELECT \(columns) FROM object WHERE creation = ?1")
            .bind(1, Int64(creation)).first(StoredRow.init)
    }
}
