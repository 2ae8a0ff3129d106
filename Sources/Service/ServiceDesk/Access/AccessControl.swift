import Objects
import Synchronization

/// Authenticates logins by the tokens of a file and by signed tokens. Tokens and keys may be
/// replaced at any time.
///
/// A change applies from the next request on, also to connections that have logged in.
public final class AccessControl: Sendable {
    /// An accepted login, which is checked again when tokens or keys have changed.
    struct Login: Sendable {
        let grant: Grant
        let proof: Proof
        /// The generation of tokens and keys against which it was last checked.
        var generation: Int
        /// The session that it belongs to; nil for none.
        var term: LoginTerm?
    }

    /// The kind of token: one of the tokens file, or one signed by a key.
    enum Proof: Sendable {
        case listed(id: String, TokenDigest)
        case signed(SigningKeys.Key)
    }

    private struct State {
        var tokens: TokenFile
        var keys: SigningKeys?
        var generation = 0
    }

    private let state: Mutex<State>
    private let generation = Atomic(0)
    private let refresh: @Sendable (AccessControl) -> Void

    /// - Parameters:
    ///   - keys: the keys whose signatures are accepted; nil accepts no signed tokens.
    ///   - refresh: replaces the tokens if the file has changed. Called for an unknown token, which
    ///     may have been created a moment ago.
    public init(
        tokens: TokenFile, keys: SigningKeys? = nil,
        refresh: @escaping @Sendable (AccessControl) -> Void = { _ in }
    ) {
        state = Mutex(State(tokens: tokens, keys: keys))
        self.refresh = refresh
    }

    /// - Returns: whether the tokens have changed.
    @discardableResult
    public func replace(_ tokens: TokenFile) -> Bool {
        guard state.withLock({ $0.tokens }) != tokens else { return false }
        change { $0.tokens = tokens }
        return true
    }

    /// - Returns: whether the keys have changed.
    @discardableResult
    public func replace(_ keys: SigningKeys) -> Bool {
        guard state.withLock({ $0.keys }) != keys else { return false }
        change { $0.keys = keys }
        return true
    }

    private func change(_ body: (inout sending State) -> Void) {
        state.withLock { state in
            body(&state)
            state.generation += 1
            generation.store(state.generation, ordering: .releasing)
        }
    }

    /// The bearer that a token names, if there is one; failed logins are counted by it. The token
    /// itself is not verified.
    func bearer(of text: String) -> String? {
        let (tokens, keys) = state.withLock { ($0.tokens, $0.keys) }
        guard let token = Token(text) else { return keys?.bearer(of: text) }
        return tokens[id: token.id]?.id
    }

    /// - Throws: `WRONG_TOKEN` when the token is unknown or has expired.
    func login(_ text: String, nowMilliseconds: Int64) throws(ServiceFailure) -> Login {
        guard let token = Token(text) else { return try signed(text, nowMilliseconds) }
        if let login = listed(token, nowMilliseconds) { return login }
        refresh(self)
        guard let login = listed(token, nowMilliseconds) else { throw .wrongToken }
        return login
    }

    private func signed(_ text: String, _ now: Int64) throws(ServiceFailure) -> Login {
        let (keys, generation) = state.withLock { ($0.keys, $0.generation) }
        guard let keys else { throw .wrongToken }
        let (grant, key) = try keys.login(text, nowMilliseconds: now)
        return Login(grant: grant, proof: .signed(key), generation: generation)
    }

    private func listed(_ token: Token, _ now: Int64) -> Login? {
        let (entry, generation) = state.withLock { ($0.tokens[id: token.id], $0.generation) }
        // Compare in any case, so that the duration does not reveal which ids exist.
        let digest = entry?.digest ?? Self.noDigest
        guard token.digest == digest, let entry, !entry.grant.isVoid(now) else { return nil }
        return Login(
            grant: entry.grant, proof: .listed(id: entry.id, digest), generation: generation)
    }

    private static let noDigest = TokenDigest(bytes: [UInt8](repeating: 0, count: 32))

    /// The login by the present tokens and keys; nil when it is no longer valid.
    func renew(_ login: Login, nowMilliseconds: () -> Int64) -> Login? {
        var login = login
        if login.generation != generation.load(ordering: .acquiring) {
            guard let renewed = renewed(login) else { return nil }
            login = renewed
        }
        if login.grant.expires != nil, login.grant.isVoid(nowMilliseconds()) { return nil }
        if let term = login.term, term.isOver(nowMilliseconds()) { return nil }
        return login
    }

    private func renewed(_ login: Login) -> Login? {
        state.withLock { state in
            switch login.proof {
            case .listed(let id, let digest):
                guard let entry = state.tokens[id: id], entry.digest == digest else { return nil }
                return Login(
                    grant: entry.grant, proof: login.proof, generation: state.generation,
                    term: login.term)
            case .signed(let key):
                guard state.keys?.holds(key) == true else { return nil }
                return Login(
                    grant: login.grant, proof: login.proof, generation: state.generation,
                    term: login.term)
            }
        }
    }
}

extension ServiceFailure {
    static let wrongToken = wrongToken("the token is not valid")

    static func wrongToken(_ message: String) -> ServiceFailure {
        ServiceFailure(.wrongToken, message, at: "token")
    }
}

extension Grant {
    func isVoid(_ nowMilliseconds: Int64) -> Bool { expires.map { $0 <= nowMilliseconds } ?? false }
}
