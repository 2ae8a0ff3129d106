import BackendContract
import EmbeddedBackend
import Objects

/// The columns of an object, in the order in which they are read.
enum ObjectColumns {
    static let list =
        "object.creation, object.change, bucket.name, object.id, object.created, object.modified, "
        + "object.version, object.owner, object.data_type, object.expires, object.points, "
        + "object.document"

    static let count = 12

    /// The object in a row of a result.
    static func object(_ rows: PostgresRows, _ row: Int) -> StoreChanges.Object {
        object { rows.isNull(row, Int32($0)) ? nil : rows.bytes(row, Int32($0)) }
    }

    /// The object in a tuple of a binary copy; nil for the end of the copy.
    ///
    /// The format is that of PostgreSQL's manual, "COPY", "Binary Format": a signature of 19 bytes
    /// or more before the first tuple, then for each the number of fields, and the length and the
    /// bytes of each field.
    static func object(copied bytes: UnsafeRawBufferPointer) throws -> StoreChanges.Object? {
        var reader = TupleReader(bytes: bytes)
        reader.skipHeader()
        guard let found = reader.int16(), found >= 0 else { return nil }
        guard found == count else { throw PostgresFailure.failed("a copy has other columns") }
        var fields: [UnsafeRawBufferPointer?] = []
        fields.reserveCapacity(count)
        for _ in 0..<count { fields.append(reader.field()) }
        return object { fields[$0] }
    }

    private static func object(
        _ field: (Int) -> UnsafeRawBufferPointer?
    ) -> StoreChanges.Object {
        func int(_ column: Int) -> Int64 { field(column)?.bigEndianInt ?? 0 }
        func text(_ column: Int) -> String? {
            field(column).map { String(decoding: $0, as: UTF8.self) }
        }
        return StoreChanges.Object(
            creation: ChangeNumber(int(0)), change: ChangeNumber(int(1)),
            bucket: BucketName(trusted: text(2) ?? ""),
            metadata: ObjectMetadata(
                id: ObjectID(trusted: text(3) ?? ""), created: int(4), modified: int(5),
                version: int(6), owner: text(7), dataType: text(8),
                expires: field(9).map(\.bigEndianInt)),
            points: field(10).map { Array($0) } ?? [], text: field(11).map { Array($0) } ?? [])
    }
}

/// Reads the parts of a tuple of a binary copy.
private struct TupleReader {
    let bytes: UnsafeRawBufferPointer
    private var offset = 0

    private static let signature = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0]

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Skips the signature, the flags and the header's extension, which precede the first tuple.
    mutating func skipHeader() {
        guard bytes.starts(with: Self.signature) else { return }
        offset = Self.signature.count + 4
        offset += Int(int32() ?? 0)
    }

    mutating func int16() -> Int? {
        guard offset + 2 <= bytes.count else { return nil }
        defer { offset += 2 }
        return Int(Int16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int16.self)))
    }

    mutating func int32() -> Int32? {
        guard offset + 4 <= bytes.count else { return nil }
        defer { offset += 4 }
        return Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))
    }

    /// Nil for null.
    mutating func field() -> UnsafeRawBufferPointer? {
        guard let length = int32(), length >= 0, offset + Int(length) <= bytes.count else {
            return nil
        }
        defer { offset += Int(length) }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + Int(length))])
    }
}
