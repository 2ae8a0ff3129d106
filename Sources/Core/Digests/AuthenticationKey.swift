import CLibcrypto

/// A secret by which messages are authenticated: HMAC (RFC 2104) with SHA-256, by the system's
/// libcrypto.
///
///     let key = AuthenticationKey(secret)
///     let code = key.code(of: message)        // 32 bytes
///
/// - Complexity: of a short message some 0.7 µs, most of it for the copy of a prepared state.
public final class AuthenticationKey: Sendable {
    /// Has taken in the secret. It is never changed: each message goes into a copy, and libcrypto
    /// lets several threads copy at once.
    nonisolated(unsafe) private let prepared: OpaquePointer

    public init(_ secret: [UInt8]) {
        gb_keep_libcrypto()
        guard let state = gb_hmac_sha256(secret, secret.count) else {
            preconditionFailure("libcrypto is configured without HMAC and SHA-256")
        }
        prepared = state
    }

    deinit { EVP_MAC_CTX_free(prepared) }

    public func code(of message: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        let state = EVP_MAC_CTX_dup(prepared)
        defer { EVP_MAC_CTX_free(state) }
        return [UInt8](unsafeUninitializedCapacity: SHA256.digestBytes) { code, count in
            guard EVP_MAC_update(state, message.baseAddress, message.count) == 1,
                EVP_MAC_final(state, code.baseAddress, &count, code.count) == 1
            else { preconditionFailure("libcrypto made no code of \(message.count) bytes") }
        }
    }
}
