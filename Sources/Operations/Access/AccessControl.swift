import Objects
import Synchronization

/// Who may log in, and as what: the tokens of a file that may change at any time.
///
/// A change counts from the next request on, on connections that are logged in too.
public final class AccessControl: Sendable {
    /// A login that was accepted, to be looked at again when the tokens have changed.
    struct Login: Sendable {
        let entry: TokenFile.Entry
        /// The state of the tokens by which it was last found good.
        var generation: Int
    }

    private struct State {
        var tokens: TokenFile
        var generation = 0
    }

    private let state: Mutex<State>
    private let generation = Atomic(0)
    private let newest: @Sendable () -> TokenFile?

    /// - Parameter newest: reads the tokens anew; nil when they are as they were. Asked when a token
    ///   is not known, which may have been made a moment ago.
    public init(tokens: TokenFile, newest: @escaping @Sendable () -> TokenFile? = { nil }) {
        state = Mutex(State(tokens: tokens))
        self.newest = newest
    }

    public func replace(_ tokens: TokenFile) {
        state.withLock { state in
            state.tokens = tokens
            state.generation += 1
            generation.store(state.generation, ordering: .releasing)
        }
    }

    /// - Returns: nil when nobody has this token, or it has expired.
    func login(_ text: String, nowMilliseconds: Int64) -> Login? {
        guard let token = Token(text) else { return nil }
        if let login = find(token, nowMilliseconds) { return login }
        guard let tokens = newest() else { return nil }
        replace(tokens)
        return find(token, nowMilliseconds)
    }

    private func find(_ token: Token, _ now: Int64) -> Login? {
        let (entry, generation) = state.withLock { ($0.tokens[id: token.id], $0.generation) }
        // Who guesses ids learns nothing from the time it takes.
        let digest = entry?.digest ?? Self.noDigest
        guard token.digest == digest, let entry, !entry.grant.isVoid(now) else { return nil }
        return Login(entry: entry, generation: generation)
    }

    private static let noDigest = TokenDigest(bytes: [UInt8](repeating: 0, count: 32))

    /// The login as the tokens are now; nil when it does not count any more.
    func renew(_ login: Login, nowMilliseconds: () -> Int64) -> Login? {
        var login = login
        if login.generation != generation.load(ordering: .acquiring) {
            let (entry, generation) = state.withLock {
                ($0.tokens[id: login.entry.id], $0.generation)
            }
            guard let entry, entry.digest == login.entry.digest else { return nil }
            login = Login(entry: entry, generation: generation)
        }
        if login.entry.grant.expires != nil, login.entry.grant.isVoid(nowMilliseconds()) {
            return nil
        }
        return login
    }
}

extension Grant {
    func isVoid(_ nowMilliseconds: Int64) -> Bool { expires.map { $0 <= nowMilliseconds } ?? false }
}
