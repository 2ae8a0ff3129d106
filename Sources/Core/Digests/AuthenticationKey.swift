import CLibcrypto
import Synchronization

/// A secret by which messages are authenticated: HMAC (RFC 2104) with SHA-256, by the system's
/// libcrypto.
///
///     let key = AuthenticationKey(secret)
///     let code = key.code(of: message)        // 32 bytes
///
/// - Complexity: of a short message some 0.6 µs.
public final class AuthenticationKey: Sendable {
    private let secret: [UInt8]

    /// A state of libcrypto, which one message at a time goes into.
    private struct State: @unchecked Sendable {
        let context: OpaquePointer
    }

    /// The states that no message is in: as many as there were messages at once. To make a state
    /// costs a dozen allocations.
    private let free: Mutex<[State]>

    /// Takes a secret of any length, which is copied.
    public init(_ secret: [UInt8]) {
        self.secret = secret
        gb_keep_libcrypto()
        free = Mutex([Self.state()])
    }

    deinit { for state in free.withLock({ $0 }) { EVP_MAC_CTX_free(state.context) } }

    private static func state() -> State {
        guard let context = gb_hmac_sha256() else {
            preconditionFailure("libcrypto is configured without HMAC and SHA-256")
        }
        return State(context: context)
    }

    /// The authentication code of a message: 32 bytes. Several threads may ask at once.
    ///
    /// - Complexity: O(length of the message).
    public func code(of message: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        let state = free.withLock { $0.popLast() } ?? Self.state()
        defer { free.withLock { $0.append(state) } }
        return [UInt8](unsafeUninitializedCapacity: SHA256.digestBytes) { code, count in
            guard EVP_MAC_init(state.context, secret, secret.count, nil) == 1,
                EVP_MAC_update(state.context, message.baseAddress, message.count) == 1,
                EVP_MAC_final(state.context, code.baseAddress, &count, code.count) == 1
            else { preconditionFailure("libcrypto made no code of \(message.count) bytes") }
        }
    }
}
