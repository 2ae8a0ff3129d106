import BackendContract
import GRDB
import Objects

/// Part of the migration to schema 5: computes the checksum of each existing row.
extension Schema {
    static func fillChecksums(_ db: Database) throws {
        let rows = try SQLStatement(
            db,
            """
            SELECT creation, change, id, created, modified, version, owner, data_type, points,
                document, (SELECT time FROM expiry WHERE expiry.creation = object.creation),
                (SELECT name FROM bucket WHERE bucket.number = object.bucket)
            FROM object WHERE creation > ?1 ORDER BY creation LIMIT ?2
            """)
        let update = try SQLStatement(db, "UPDATE object SET checksum = ?2 WHERE creation = ?1")
        var last: Int64 = -1
        while true {
            var checksums: [(creation: Int64, checksum: Int32)] = []
            rows.bind(1, last).bind(2, rowsAtOnce)
            while try rows.step() { checksums.append((rows.int(0), checksum(rows))) }
            for row in checksums {
                try update.bind(1, row.creation).bind(2, Int64(row.checksum)).run()
            }
            guard let end = checksums.last else { return }
            last = end.creation
        }
    }

    private static func checksum(_ row: SQLStatement) -> Int32 {
        let none = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
        let metadata = ObjectMetadata(
            id: ObjectID(trusted: row.text(2) ?? ""), created: row.int(3), modified: row.int(4),
            version: row.int(5), owner: row.text(6), dataType: row.text(7),
            expires: row.optionalInt(10))
        return RowChecksum.of(
            metadata, creation: ChangeNumber(row.int(0)), change: ChangeNumber(row.int(1)),
            bucket: row.text(11) ?? "", points: row.bytes(8) ?? none,
            document: row.bytes(9) ?? none)
    }
}
