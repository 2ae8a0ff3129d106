import BackendContract
import GRDB
import Objects

/// One row of the object table.
public struct StoredRow: Sendable {
    /// The number of the change that created the object. It identifies the object in the store.
    public let creation: ChangeNumber
    /// The number of the change that wrote this row.
    public let change: ChangeNumber
    /// The predefined fields. In a damaged row they may have any value.
    public let metadata: ObjectMetadata
    /// The stored document: minified JSON without predefined fields.
    public let text: [UInt8]
    /// Whether the row is undamaged, that is, whether its checksum matches its contents.
    public let isWhole: Bool

    /// The object as clients read it.
    public var document: [UInt8] { metadata.document(around: text) }

    static let columns =
        "creation, change, id, created, modified, version, owner, data_type, document, "
        + "(SELECT time FROM expiry WHERE expiry.creation = object.creation), points, checksum, "
        + "(SELECT name FROM bucket WHERE bucket.number = object.bucket)"

    /// The query for one object. It is a constant because every read uses it.
    static let selection = "SELECT \(columns) FROM object WHERE creation = ?1"

    init(_ row: SQLStatement) {
        creation = ChangeNumber(truncatingIfNeeded: row.int(0))
        change = ChangeNumber(truncatingIfNeeded: row.int(1))
        metadata = ObjectMetadata(
            id: ObjectID(trusted: row.text(2) ?? ""), created: row.int(3), modified: row.int(4),
            version: row.int(5), owner: row.text(6), dataType: row.text(7),
            expires: row.optionalInt(9))
        let none = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
        let document = row.bytes(8) ?? none
        text = Array(document)
        let checksum = RowChecksum.of(
            metadata, creation: creation, change: change, bucket: row.text(12) ?? "",
            points: row.bytes(10) ?? none, document: document)
        isWhole = Int64(checksum) == row.int(11)
    }

    /// Nil also for a row that has outlived its bucket.
    ///
    /// - Throws: `StoreFailure.damagedObject` if the row is damaged.
    static func select(_ db: Database, creation: ChangeNumber) throws -> StoredRow? {
        let row =
            try SQLStatement(db, selection).bind(1, Int64(creation))
            .first { $0.bytes(12) == nil ? nil : StoredRow($0) } ?? nil
        if let row, !row.isWhole { throw StoreFailure.damagedObject(creation: creation) }
        return row
    }
}
