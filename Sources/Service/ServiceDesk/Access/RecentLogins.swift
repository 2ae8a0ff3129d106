import Digests
import Synchronization

/// The logins by tokens that were verified lately, so that a client whose every request carries its
/// token costs no signature each time. What is found has to be renewed.
final class RecentLogins: Sendable {
    private static let limit = 10_000

    private let logins = Mutex<[[UInt8]: AccessControl.Login]>([:])

    /// The login by a token; above the limit all others are forgotten.
    subscript(token: String) -> AccessControl.Login? {
        get {
            let key = Self.key(token)
            return logins.withLock { $0[key] }
        }
        set {
            let key = Self.key(token)
            logins.withLock { logins in
                if logins.count >= Self.limit { logins.removeAll() }
                logins[key] = newValue
            }
        }
    }

    /// The digest: tokens are not kept, and the time of a look-up tells nothing of them.
    private static func key(_ token: String) -> [UInt8] { SHA256.digest(of: Array(token.utf8)) }
}
