import GeoBucketClient
import JSONText
import Objects

/// The pieces of a bucket's export, as the bucket was at the first one.
enum ExportedPieces {
    /// Calls `body` with the objects of each piece.
    ///
    /// - Throws: `CommandFailure` if there is no such bucket, before `body` is called.
    static func forEach(
        of bucket: String, _ connection: LineConnection, _ body: ([JSONView]) async throws -> Void
    ) async throws {
        var (isFirst, more) = (true, true)
        while more {
            let piece = try await connection.call(
                "bucket.export", params(bucket, continues: !isFirst))
            let parser = JSONParser()
            let view = try parser.parse(piece)
            let objects = view["objects"].map { Array($0.elements) } ?? []
            more = view["more"]?.bool ?? false
            if isFirst, objects.isEmpty, try await !exists(bucket, connection) {
                throw CommandFailure("there is no bucket \(bucket); see `geobucket buckets`")
            }
            isFirst = false
            try await body(objects)
            withExtendedLifetime((parser, piece)) {}
        }
    }

    /// Whether a bucket without objects is there.
    private static func exists(
        _ bucket: String, _ connection: LineConnection
    ) async throws -> Bool {
        let scope = try BucketName(bucket).scope
        var isFound = false
        try await BucketList.forEachPage(
            of: scope == .application ? nil : scope.text, connection
        ) { buckets in
            isFound = isFound || buckets.contains { $0["bucket"]?.string == bucket }
        }
        return isFound
    }

    private static func params(_ bucket: String, continues: Bool) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw("{\"bucket\":")
        writer.string(bucket)
        writer.key("continue")
        writer.bool(continues)
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }
}
