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
/// base64url of: version, digest of the query (16 bytes), creation number (8), id (length and
/// bytes), sort key, and an HMAC-SHA-256 over all that cut to 16 bytes.
struct PageKeyCodec: Sendable {
    private let secret: SymmetricKey

    private static let version: UInt8 = 2
    private static let digestBytes = 16
    private static let codeBytes = 16

    init(secret: [UInt8]) { self.secret = SymmetricKey(data: secret) }

    func encode(_ key: PageKey, for query: Query, in bucket: BucketName) -> String {
        var bytes: [UInt8] = [Self.version]
        bytes += Self.digest(query, bucket)
        withUnsafeBytes(of: key.creation.bigEndian) { bytes += $0 }
        bytes.append(UInt8(key.id.text.utf8.count))
        bytes += key.id.text.utf8
        bytes += key.sortKey.bytes
        bytes += code(bytes[...])
        return Base64URL.encode(bytes)
    }

    /// - Throws: `INVALID_INPUT_DATA` for a key that was not made here or for another query.
    func decode(
        _ text: String, for query: Query, in bucket: BucketName
    ) throws(ServiceFailure) -> PageKey {
        let smallest = 1 + Self.digestBytes + 8 + 1 + Self.codeBytes
        guard let bytes = Base64URL.decode(text), bytes.count >= smallest,
            bytes[0] == Self.version, isAuthentic(bytes)
        else {
            throw ServiceFailure(
                .invalidInputData, "it is no key that this service gave out", at: "paginationKey")
        }
        guard bytes[1...Self.digestBytes].elementsEqual(Self.digest(query, bucket)) else {
            throw ServiceFailure(
                .invalidInputData, "it belongs to a query with another bucket, clause or order",
                at: "paginationKey")
        }
        var at = 1 + Self.digestBytes
        let creation = bytes[at..<at + 8].reduce(ChangeNumber(0)) { $0 << 8 | ChangeNumber($1) }
        at += 9
        let idEnd = at + Int(bytes[at - 1])
        let id = ObjectID(trusted: String(decoding: bytes[at..<idEnd], as: UTF8.self))
        let sortKey = SortKey(bytes: Array(bytes[idEnd..<bytes.count - Self.codeBytes]))
        return PageKey(sortKey: sortKey, creation: creation, id: id)
    }

    private func isAuthentic(_ bytes: [UInt8]) -> Bool {
        let body = bytes.dropLast(Self.codeBytes)
        let difference = zip(code(body), bytes.suffix(Self.codeBytes)).reduce(UInt8(0)) {
            $0 | ($1.0 ^ $1.1)
        }
        return difference == 0
    }

    private func code(_ body: ArraySlice<UInt8>) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: body, using: secret).prefix(Self.codeBytes))
    }

    private static func digest(_ query: Query, _ bucket: BucketName) -> [UInt8] {
        var writer = JSONWriter()
        writer.string(bucket.text)
        query.clause.write(to: &writer)
        writer.list(query.order) { $0.write(to: &$1) }
        return Array(SHA256.hash(data: writer.bytes).prefix(digestBytes))
    }
}

/// RFC 4648 section 5, without padding.
enum Base64URL {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static let values: [UInt8] = {
        var table = [UInt8](repeating: 255, count: 256)
        for (value, unit) in alphabet.enumerated() { table[Int(unit)] = UInt8(value) }
        return table
    }()

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 4 / 3 + 4)
        var (bits, held) = (UInt32(0), 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            held += 8
            while held >= 6 {
                held -= 6
                text.append(alphabet[Int(bits >> UInt32(held)) & 63])
            }
        }
        if held > 0 { text.append(alphabet[Int(bits << UInt32(6 - held)) & 63]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil for anything that `encode` does not make.
    static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 3 / 4)
        var (bits, held) = (UInt32(0), 0)
        for unit in text.utf8 {
            let value = values[Int(unit)]
            guard value != 255 else { return nil }
            bits = bits << 6 | UInt32(value)
            held += 6
            if held >= 8 {
                held -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
            }
        }
        // One spelling for each key: no stray digit, no stray bits.
        guard held < 6, bits & (1 << UInt32(held) - 1) == 0 else { return nil }
        return bytes
    }
}
