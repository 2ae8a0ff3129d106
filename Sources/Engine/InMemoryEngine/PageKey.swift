import Backend
import Crypto
import JSONText
import Objects
import QueryLanguage

/// Where a page ended: everything at or before this place in the order has been returned.
struct PageKey: Equatable {
    /// The sort values of the last object returned; empty for the order of creation.
    var sortKey: SortKey
    var creation: ChangeNumber
    var id: ObjectID

    /// The sort values by the order they are of.
    func values(of order: [OrderKey]) -> [SortValue] {
        guard let values = sortKey.values(descending: order.map(\.descending)) else {
            preconditionFailure("an authentic key without the values of its order")
        }
        return values
    }
}

/// Page keys as clients hold them: opaque, bound to bucket, clause and order, and authenticated.
///
/// base64url of: version, creation number (8 bytes), id (length and bytes), sort key (4-byte length
/// and bytes), and an HMAC-SHA-256, cut to 16 bytes, over all that and the query's bucket, clause
/// and order. So a key of another query is as wrong as one that was tampered with.
struct PageKeyCodec: Sendable {
    /// The authentication code in the making, the secret taken in already.
    private let prepared: HMAC<SHA256>

    private static let version: UInt8 = 2
    private static let codeBytes = 16
    private static let smallest = 1 + 8 + 1 + 4 + codeBytes

    init(secret: [UInt8]) { prepared = HMAC<SHA256>(key: SymmetricKey(data: secret)) }

    func encode(_ key: PageKey, for query: Query, in bucket: BucketName) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.smallest + key.id.text.utf8.count + key.sortKey.bytes.count)
        bytes.append(Self.version)
        withUnsafeBytes(of: key.creation.bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(key.id.text.utf8.count))
        bytes.append(contentsOf: key.id.text.utf8)
        withUnsafeBytes(of: UInt32(key.sortKey.bytes.count).bigEndian) {
            bytes.append(contentsOf: $0)
        }
        bytes.append(contentsOf: key.sortKey.bytes)
        let code = bytes.withUnsafeBytes { self.code($0, query, bucket) }
        code.withUnsafeBytes { bytes.append(contentsOf: $0.prefix(Self.codeBytes)) }
        return Base64URL.encode(bytes)
    }

    /// - Throws: `INVALID_INPUT_DATA` for a key that was not made here or for another query.
    func decode(
        _ text: String, for query: Query, in bucket: BucketName
    ) throws(ServiceFailure) -> PageKey {
        guard let bytes = Base64URL.decode(text), bytes.count >= Self.smallest,
            bytes[0] == Self.version, isAuthentic(bytes, query, bucket)
        else {
            throw ServiceFailure(
                .invalidInputData,
                "it is no key that this service gave out for this bucket, clause and order",
                at: "paginationKey")
        }
        let creation = bytes[1..<9].reduce(ChangeNumber(0)) { $0 << 8 | ChangeNumber($1) }
        let idEnd = 10 + Int(bytes[9])
        let id = ObjectID(trusted: String(decoding: bytes[10..<idEnd], as: UTF8.self))
        let sortKey = SortKey(bytes: Array(bytes[idEnd + 4..<bytes.count - Self.codeBytes]))
        return PageKey(sortKey: sortKey, creation: creation, id: id)
    }

    /// In a time that does not depend on where the codes differ.
    private func isAuthentic(_ bytes: [UInt8], _ query: Query, _ bucket: BucketName) -> Bool {
        bytes.withUnsafeBytes { bytes in
            let body = UnsafeRawBufferPointer(rebasing: bytes.dropLast(Self.codeBytes))
            return code(body, query, bucket).withUnsafeBytes { code in
                zip(code, bytes.suffix(Self.codeBytes)).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
            }
        }
    }

    /// - Parameter body: tells where it ends itself, so that no two texts run into one.
    private func code(
        _ body: UnsafeRawBufferPointer, _ query: Query, _ bucket: BucketName
    ) -> HMAC<SHA256>.MAC {
        var writer = JSONWriter()
        writer.raw(body.assumingMemoryBound(to: UInt8.self))
        writer.string(bucket.text)
        query.clause.write(to: &writer)
        writer.list(query.order) { $0.write(to: &$1) }
        var code = prepared
        writer.withBytes { code.update(data: UnsafeRawBufferPointer($0)) }
        return code.finalize()
    }
}
