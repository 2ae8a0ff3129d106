import CLibcrypto

/// SHA-256 (FIPS 180-4), by the system's libcrypto.
///
///     SHA256.digest(of: Array("abc".utf8))        // ba 78 16 bf 8f 01 cf ea …
public enum SHA256 {
    /// How many bytes a digest has.
    public static let digestBytes = 32

    /// Looked up once, as that costs as much as a short digest. It is never changed and never freed.
    nonisolated(unsafe) private static let algorithm: OpaquePointer = {
        gb_keep_libcrypto()
        guard let algorithm = EVP_MD_fetch(nil, "SHA256", nil) else {
            preconditionFailure("libcrypto is configured without SHA-256")
        }
        return algorithm
    }()

    public static func digest(of bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: digestBytes) { digest, count in
            guard EVP_Digest(bytes, bytes.count, digest.baseAddress, nil, algorithm, nil) == 1
            else { preconditionFailure("libcrypto made no digest of \(bytes.count) bytes") }
            count = digestBytes
        }
    }
}
