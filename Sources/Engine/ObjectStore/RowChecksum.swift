import Backend
import CZlib
import Objects

/// The checksum of a row: over the document and everything that the row says of it, so that damage that
/// is still JSON, or still a number, is noticed.
///
/// CRC-32 as zlib computes it. It is part of the schema: computed in another way, it would be another
/// schema's.
enum RowChecksum {
    /// - Parameters:
    ///   - bucket: the name, so that a bucket whose name is damaged has no objects.
    ///   - points: the column as it is stored.
    static func of(
        _ metadata: ObjectMetadata, creation: ChangeNumber, change: ChangeNumber, bucket: String,
        points: UnsafeBufferPointer<UInt8>, document: UnsafeBufferPointer<UInt8>
    ) -> Int32 {
        // With the length of each text, what stands between two of them cannot move.
        var numbers: [12 of Int64] = [
            Int64(bitPattern: creation), Int64(bitPattern: change), metadata.version,
            metadata.created, metadata.modified, metadata.expires ?? .min,
            Int64(bucket.utf8.count), Int64(metadata.id.text.utf8.count),
            Self.length(metadata.owner), Self.length(metadata.dataType), Int64(points.count),
            Int64(document.count),
        ]
        for index in numbers.indices { numbers[index] = numbers[index].littleEndian }
        var sum = crc32_z(0, nil, 0)
        numbers.span.withUnsafeBytes { add($0, to: &sum) }
        add(bucket, to: &sum)
        add(metadata.id.text, to: &sum)
        if let owner = metadata.owner { add(owner, to: &sum) }
        if let dataType = metadata.dataType { add(dataType, to: &sum) }
        add(UnsafeRawBufferPointer(points), to: &sum)
        add(UnsafeRawBufferPointer(document), to: &sum)
        return Int32(truncatingIfNeeded: sum)
    }

    /// -1: there is no text, which is not the empty one.
    private static func length(_ text: String?) -> Int64 { text.map { Int64($0.utf8.count) } ?? -1 }

    private static func add(_ text: String, to sum: inout UInt) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0), to: &sum) }
    }

    private static func add(_ bytes: UnsafeRawBufferPointer, to sum: inout UInt) {
        guard let start = bytes.baseAddress else { return }  // zlib takes it for a beginning
        sum = crc32_z(sum, start.assumingMemoryBound(to: UInt8.self), bytes.count)
    }
}
