import CLibpq

/// The rows that a statement returned, in PostgreSQL's binary format. Bytes are borrowed: they are
/// valid as long as the rows are.
final class PostgresRows {
    private let result: OpaquePointer

    /// - Parameter result: a `PGresult`, which the rows own from now on.
    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    var count: Int { Int(PQntuples(result)) }

    func isNull(_ row: Int, _ column: Int32) -> Bool {
        PQgetisnull(result, Int32(row), column) == 1
    }

    func bytes(_ row: Int, _ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(result, Int32(row), column),
            count: Int(PQgetlength(result, Int32(row), column)))
    }

    func int(_ row: Int, _ column: Int32) -> Int64 { bytes(row, column).bigEndianInt }

    func optionalInt(_ row: Int, _ column: Int32) -> Int64? {
        isNull(row, column) ? nil : int(row, column)
    }

    func text(_ row: Int, _ column: Int32) -> String {
        String(decoding: bytes(row, column), as: UTF8.self)
    }

    func optionalText(_ row: Int, _ column: Int32) -> String? {
        isNull(row, column) ? nil : text(row, column)
    }

    /// An array of integers that has no nulls, in the format of `array_send`: five numbers of 4 bytes,
    /// of which the fourth is the length, then 4 bytes and the number of each element.
    func ints(_ row: Int, _ column: Int32) -> [Int64] {
        let bytes = bytes(row, column)
        return stride(from: 24, to: bytes.count, by: 12).map {
            Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: $0, as: Int64.self))
        }
    }

    func bool(_ row: Int, _ column: Int32) -> Bool { bytes(row, column).first == 1 }
}

extension UnsafeRawBufferPointer {
    /// An integer of 8 bytes, the most significant first; 0 for any other number of bytes.
    var bigEndianInt: Int64 {
        count == 8 ? Int64(bigEndian: loadUnaligned(as: Int64.self)) : 0
    }
}
