import BackendContract
import CZlib
import Objects

/// The checksum of a row. It covers the document and all other columns of the object, so that it
/// detects damage that is still valid JSON or a valid number.
///
/// It is CRC-32 as zlib computes it, and is part of the schema: another algorithm would need
/// another schema version.
enum RowChecksum {
    /// - Parameters:
    ///   - bucket: the bucket's name. A bucket whose name is damaged therefore has no intact
    ///     objects.
    ///   - points: the bytes of the column as they are stored.
    static func of(
        _ metadata: ObjectMetadata, creation: ChangeNumber, change: ChangeNumber, bucket: String,
        points: UnsafeBufferPointer<UInt8>, document: UnsafeBufferPointer<UInt8>
    ) -> Int32 {
        // The length of each text is included, so that no byte can move from one text to the next.
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

    /// The length of a text; -1 if there is none, which differs from an empty text.
    private static func length(_ text: String?) -> Int64 { text.map { Int64($0.utf8.count) } ?? -1 }

    private static func add(_ text: String, to sum: inout UInt) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0), to: &sum) }
    }

    private static func add(_ bytes: UnsafeRawBufferPointer, to sum: inout UInt) {
        guard let start = bytes.baseAddress else { return }  // zlib restarts the sum for nil
        sum = crc32_z(sum, start.assumingMemoryBound(to: UInt8.self), bytes.count)
    }
}
