import CLibcrypto

/// SHA-256 (FIPS 180-4), by the system's libcrypto.
///
///     SHA256.digest(of: Array("abc".utf8))        // ba 78 16 bf 8f 01 cf ea …
public enum SHA256 {
    /// How many bytes a digest has.
    public static let digestBytes = 32

    /// The digest of all the bytes: `digestBytes` of them.
    ///
    /// - Complexity: O(number of bytes).
    public static func digest(of bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: digestBytes) { digest, count in
            gb_sha256(bytes, bytes.count, digest.baseAddress)
            count = digestBytes
        }
    }
}
