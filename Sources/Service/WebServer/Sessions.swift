import Digests
import JSONText
import Operations
import Synchronization

/// The sessions of browsers: logins under a secret that a cookie carries. They end with the process.
final class Sessions: Sendable {
    /// The cookie's name.
    static let cookie = "geobucket"
    /// The longest time that a session lasts.
    static let milliseconds: Int64 = 12 * 3_600_000
    /// The most sessions; the one that would end first gives way to a new one.
    static let limit = 10_000

    private struct Session {
        let caller: Caller
        let end: Int64
    }

    private let sessions = Mutex<[[UInt8]: Session]>([:])

    /// Begins a session.
    ///
    /// - Returns: its secret.
    func begin(_ caller: Caller, until end: Int64, now: Int64) -> String {
        var random = SystemRandomNumberGenerator()
        let id = Base64URL.encode(
            (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        sessions.withLock { sessions in
            if sessions.count >= Self.limit {
                sessions = sessions.filter { $0.value.end > now }
                if sessions.count >= Self.limit,
                    let first = sessions.min(by: { $0.value.end < $1.value.end })
                {
                    sessions[first.key] = nil
                }
            }
            sessions[Self.key(id)] = Session(caller: caller, end: end)
        }
        return id
    }

    /// The caller of a session that has not ended.
    func caller(of id: String, now: Int64) -> Caller? {
        let session = sessions.withLock { $0[Self.key(id)] }
        guard let session, session.end > now else { return nil }
        return session.caller
    }

    func end(_ id: String) { sessions.withLock { $0[Self.key(id)] = nil } }

    /// The digest, so that the time of a look-up tells nothing of the secrets.
    private static func key(_ id: String) -> [UInt8] { SHA256.digest(of: Array(id.utf8)) }
}
