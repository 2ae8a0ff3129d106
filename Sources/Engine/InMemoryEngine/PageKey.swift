import BackendContract
import Digests
import JSONText
import Objects
import QueryLanguage

/// The place where a page ended. Everything at or before this place in the order has been returned.
struct PageKey: Equatable {
    /// The sort values of the last object returned; empty for the order of creation.
    var sortKey: SortKey
    var creation: ChangeNumber
    var id: ObjectID

    /// The sort values, decoded according to an order.
    func values(of order: [OrderKey]) -> [SortValue] {
        guard let values = sortKey.values(descending: order.map(\.descending)) else {
            preconditionFailure("an authentic key without the values of its order")
        }
        return values
    }
}

/// The page keys that clients hold: opaque, bound to bucket, clause and order, and authenticated.
///
/// The base64url encoding of the version, the creation number (8 bytes), the id (length and bytes),
/// the sort key (4-byte length and bytes) and an HMAC-SHA-256, cut to 16 bytes, over all of these
/// and the query's bucket, clause and order. A key of another query is therefore rejected like one
/// that was tampered with.
struct PageKeyCodec: Sendable {
    private let secret: AuthenticationKey

    private static let version: UInt8 = 2
    private static let codeBytes = 16
    private static let smallest = 1 + 8 + 1 + 4 + codeBytes

    init(secret: [UInt8]) { self.secret = AuthenticationKey(secret) }

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
        bytes.append(contentsOf: code(bytes[...], query, bucket))
        return Base64URL.encode(bytes)
    }

    /// - Throws: `INVALID_INPUT_DATA` for a key that was not made here or was made for another
    ///   query.
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

    private func isAuthentic(_ bytes: [UInt8], _ query: Query, _ bucket: BucketName) -> Bool {
        areEqualInConstantTime(
            code(bytes.dropLast(Self.codeBytes), query, bucket), bytes.suffix(Self.codeBytes))
    }

    /// - Parameter body: a self-delimiting encoding, so that no two texts run into one.
    private func code(
        _ body: ArraySlice<UInt8>, _ query: Query, _ bucket: BucketName
    ) -> ArraySlice<UInt8> {
        var writer = JSONWriter()
        body.withUnsafeBufferPointer { writer.raw($0) }
        writer.string(bucket.text)
        query.clause.write(to: &writer)
        writer.list(query.order) { $0.write(to: &$1) }
        return writer.withBytes { secret.code(of: $0) }.prefix(Self.codeBytes)
    }
}
