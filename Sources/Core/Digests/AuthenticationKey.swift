import CLibcrypto

/// A secret by which messages are authenticated: HMAC (RFC 2104) with SHA-256 by the system's
/// libcrypto.
///
///     let key = AuthenticationKey(secret)
///     let code = key.code(of: message)        // 32 bytes
public struct AuthenticationKey: Sendable {
    private let key: gb_hmac_key

    /// Takes a secret of any length.
    public init(_ secret: [UInt8]) {
        gb_keep_libcrypto()
        key = gb_hmac_key_of(secret, secret.count)
    }

    /// The authentication code of a message: 32 bytes.
    ///
    /// - Complexity: O(length of the message). It allocates only its result.
    public func code(of message: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: SHA256.digestBytes) { code, count in
            withUnsafePointer(to: key) {
                gb_hmac($0, message.baseAddress, message.count, code.baseAddress)
            }
            count = SHA256.digestBytes
        }
    }
}
