import InMemoryEngine
import JSONText
import Objects

/// The list of the engine's columns as the store keeps it: a JSON array of `[bucket, field]`, the one
/// used last first.
enum ColumnCatalogue {
    static let setting = "columns"

    static func encode(_ columns: [ColumnName]) -> [UInt8] {
        var writer = JSONWriter()
        writer.byte(UInt8(ascii: "["))
        var isFirst = true
        for column in columns {
            if !isFirst { writer.byte(UInt8(ascii: ",")) }
            isFirst = false
            writer.byte(UInt8(ascii: "["))
            writer.string(column.bucket.text)
            writer.byte(UInt8(ascii: ","))
            writer.string(column.field.utf8)
            writer.byte(UInt8(ascii: "]"))
        }
        writer.byte(UInt8(ascii: "]"))
        return writer.bytes
    }

    /// Decodes the readable entries. Queries will request the other columns again.
    static func decode(_ text: [UInt8]) -> [ColumnName] {
        let columns = try? JSONParser.reading(text) { view in
            view.elements.compactMap { pair -> ColumnName? in
                var parts = pair.elements
                guard let bucket = parts.next()?.string, let field = parts.next()?.utf8,
                    let name = try? BucketName(bucket)
                else { return nil }
                return ColumnName(bucket: name, field: FieldPath(utf8: Array(field)))
            }
        }
        return columns ?? []
    }
}
