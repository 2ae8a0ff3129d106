import BackendContract
import GRDB
import JSONText
import Objects

/// Part of the migration to schema 6: adds the GeoPoints in arrays, which earlier versions did not
/// index, to the points of their objects. The objects themselves do not change.
extension Schema {
    private struct Row {
        let object: StoredRow
        let points: [FieldPoint]
        let bucket: BucketName
    }

    /// The bytes of documents that are read before their rows are written.
    private static let bytesAtOnce = 8 << 20

    static func addArrayPoints(_ db: Database) throws {
        let rows = try SQLStatement(
            db,
            """
            SELECT \(StoredRow.columns) FROM object
            WHERE creation > ?1 AND instr(document, '[') > 0 ORDER BY creation
            """)
        let transaction = try StoreTransaction(db)
        let parser = JSONParser()
        var last: Int64 = -1
        var isEnd = false
        while !isEnd {
            var (changed, bytes): ([Row], Int) = ([], 0)
            rows.bind(1, last)
            isEnd = true
            while try rows.step() {
                last = rows.int(0)
                guard let row = changedRow(rows, parser) else { continue }
                changed.append(row)
                bytes += row.object.text.count
                if changed.count == rowsAtOnce || bytes > bytesAtOnce {
                    isEnd = false
                    break
                }
            }
            rows.reset()
            for row in changed {
                let object = row.object
                try transaction.update(
                    creation: object.creation, object.metadata,
                    WrittenDocument(text: object.text, points: row.points), in: row.bucket,
                    change: object.change, expiringBefore: object.metadata.expires)
            }
        }
    }

    /// The row with all its points, if the column lacks some. Damaged rows stay as they are.
    private static func changedRow(_ row: SQLStatement, _ parser: JSONParser) -> Row? {
        let object = StoredRow(row)
        guard object.isWhole, let document = try? parser.parse(object.text) else { return nil }
        let points = FieldPoint.all(in: document)
        guard points.count * PointsColumn.pointBytes != row.bytes(10)?.count ?? 0 else {
            return nil
        }
        return Row(
            object: object, points: points, bucket: BucketName(trusted: row.text(12) ?? ""))
    }
}
