import Logging
import Operations

/// Who may log in to a running service, as its tokens file and its key set are now.
struct WatchedAccess: Sendable {
    let control: AccessControl
    private let tokens: WatchedFile?
    private let keys: WatchedFile?
    private let audience: String

    init(
        tokens tokensPath: String?, keys keysPath: String?, audience: String, logger: Logger
    ) async throws {
        let tokens = tokensPath.map { WatchedFile($0, named: "tokens", logger: logger) }
        let keys = keysPath.map { WatchedFile($0, named: "signing keys", logger: logger) }
        self.tokens = tokens
        self.keys = keys
        self.audience = audience
        control = AccessControl(
            tokens: try tokens.map { try TokenStore(path: $0.path).load() } ?? TokenFile(),
            keys: try await Self.keys(keysPath, audience),
            newest: { tokens.flatMap(Self.newestTokens) })
    }

    /// Takes up what has changed since it was last looked at.
    func renew() async {
        if let changed = tokens.flatMap(Self.newestTokens) { control.replace(changed) }
        guard let keys, keys.hasChanged() else { return }
        guard let changed = try? await Self.keys(keys.path, audience) else {
            return keys.noteUnreadable()
        }
        keys.noteRead(changed.count)
        control.replace(changed)
    }

    private static func newestTokens(_ file: WatchedFile) -> TokenFile? {
        guard file.hasChanged() else { return nil }
        guard let tokens = try? TokenStore(path: file.path).load() else {
            file.noteUnreadable()
            return nil
        }
        file.noteRead(tokens.entries.count)
        return tokens
    }

    private static func keys(_ path: String?, _ audience: String) async throws -> SigningKeys? {
        guard let path else { return nil }
        do {
            return try await SigningKeys(jwks: try Files.contents(of: path), audience: audience)
        } catch let fault as TokenFileFault {
            throw CommandFailure("\(path) is no key set (JWKS): \(fault)")
        }
    }
}
