import Digests
import JSONText
import Objects
import ServiceDesk
import Synchronization

/// The sessions of browsers: logins under a secret that a cookie carries. They end with the process.
///
/// What goes on under a session, such as a live query, ends with it.
final class Sessions: Sendable {
    /// The longest time that a session lasts.
    static let milliseconds: Int64 = 12 * 3_600_000

    struct Session {
        let caller: Caller
        let principal: String
        let end: Int64
        let term: LoginTerm
    }

    struct State {
        /// By the digests of their secrets, which are not kept.
        var sessions: [[UInt8]: Session] = [:]
        var byPrincipal: [String: Set<[UInt8]>] = [:]

        mutating func remove(_ key: [UInt8]) {
            guard let session = sessions.removeValue(forKey: key) else { return }
            session.term.finish()
            byPrincipal[session.principal]?.remove(key)
            if byPrincipal[session.principal]?.isEmpty == true {
                byPrincipal[session.principal] = nil
            }
        }

        /// Makes room for one more among some: those that are over go, else the one that ends first.
        mutating func makeRoom(among keys: some Sequence<[UInt8]>, now: Int64) {
            let ends = keys.map { (key: $0, end: sessions[$0]!.end) }
            let over = ends.filter { $0.end <= now }
            for (key, _) in over { remove(key) }
            guard over.isEmpty, let first = ends.min(by: { $0.end < $1.end }) else { return }
            remove(first.key)
        }
    }

    private let limit: Int
    private let limitByPrincipal: Int
    let state = Mutex(State())

    init(_ limits: Limits = Limits()) {
        (limit, limitByPrincipal) = (limits.sessions, limits.sessionsPerPrincipal)
    }

    /// Begins a session. Above the limits, of the principal first, the session that would end first
    /// gives way.
    ///
    /// - Returns: its secret.
    func begin(_ caller: Caller, until end: Int64, now: Int64) -> String {
        var random = SystemRandomNumberGenerator()
        let id = Base64URL.encode(
            (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        let principal = caller.grant?.principal ?? caller.address
        let term = LoginTerm(until: end)
        caller.bind(to: term)
        state.withLock { state in
            let own = state.byPrincipal[principal] ?? []
            if own.count >= limitByPrincipal {
                state.makeRoom(among: own, now: now)
            } else if state.sessions.count >= limit {
                state.makeRoom(among: Array(state.sessions.keys), now: now)
            }
            let key = Self.key(id)
            state.sessions[key] = Session(
                caller: caller, principal: principal, end: end, term: term)
            state.byPrincipal[principal, default: []].insert(key)
        }
        return id
    }

    /// The caller of a session that has not ended.
    func caller(of id: String, now: Int64) -> Caller? {
        let session = state.withLock { $0.sessions[Self.key(id)] }
        guard let session, session.end > now else { return nil }
        return session.caller
    }

    /// Ends a session, and what goes on under it.
    func end(_ id: String) { state.withLock { $0.remove(Self.key(id)) } }

    /// The digest, so that the time of a look-up tells nothing of the secrets.
    private static func key(_ id: String) -> [UInt8] { SHA256.digest(of: Array(id.utf8)) }
}
