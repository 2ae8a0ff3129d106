import Dispatch
import Foundation
import Logging
import Objects
import Runtime
import ServiceDesk
import Synchronization

/// Controls the logins of a running service by its current tokens file and key set.
struct WatchedAccess: Sendable {
    /// The paths of the two files, and the rules for signed tokens.
    struct Sources: Sendable {
        var tokens: String?
        var keys: String?
        var rules: SigningKeys.Rules
        var maximumBytes: Int
        /// Takes over those of principals.
        var quotas: Quotas
    }

    let control: AccessControl
    private let tokens: WatchedFile?
    private let keys: WatchedFile?
    private let rules: SigningKeys.Rules
    private let quotas: Quotas
    private let logger: Logger

    /// - Throws: `CommandFailure` for a file that cannot be used.
    init(_ sources: Sources, clock: ServiceClock, logger: Logger) async throws {
        func open(_ path: String?, _ name: String) throws -> (TrustedFile, WatchedFile)? {
            guard let path else { return nil }
            let file = try Files.trusted(
                path, maximumBytes: sources.maximumBytes, decidesLogins: true)
            let watched = WatchedFile(
                path, named: name, maximumBytes: sources.maximumBytes, seen: file.stamp,
                clock: clock, logger: logger)
            return (file, watched)
        }
        let tokens = try open(sources.tokens, "tokens")
        let keys = try open(sources.keys, "signing keys")
        self.tokens = tokens?.1
        self.keys = keys?.1
        self.logger = logger
        (rules, quotas) = (sources.rules, sources.quotas)
        var signingKeys: SigningKeys?
        if let (file, _) = keys {
            do {
                signingKeys = try await SigningKeys(jwks: file.bytes, rules: rules)
            } catch let fault as TokenFileFault {
                throw CommandFailure("\(sources.keys ?? "") is no key set (JWKS): \(fault)")
            }
        }
        let known =
            try tokens.map { try TokenStore.tokens($0.0, path: sources.tokens ?? "") }
            ?? TokenFile()
        sources.quotas.replace(principals: known.quotas)
        control = AccessControl(
            tokens: known, keys: signingKeys,
            refresh: { [quotas] control in
                tokens?.1.checkNow { try Self.take($0, control, quotas) }
            })
        if let signingKeys { warnWithout(signingKeys) }
    }

    /// The folders with the files, and with what links lead to.
    var folders: Set<String> {
        let files = [tokens, keys].compactMap { $0.map { URL(filePath: $0.path) } }
        return Set(
            (files + files.map { $0.resolvingSymlinksInPath() }).map {
                $0.deletingLastPathComponent().path
            })
    }

    /// Applies what has changed since the last check.
    func renew() {
        tokens?.check { [control, quotas] in try Self.take($0, control, quotas) }
        keys?.check(takeKeys)
    }

    private static func take(
        _ json: [UInt8], _ control: AccessControl, _ quotas: Quotas
    ) throws -> Int? {
        let tokens = try TokenFile(json: json)
        guard control.replace(tokens) else { return nil }
        quotas.replace(principals: tokens.quotas)
        return tokens.entries.count
    }

    @Sendable private func takeKeys(_ jwks: [UInt8]) throws -> Int? {
        let keys = try waiting { [rules] in try await SigningKeys(jwks: jwks, rules: rules) }
        guard control.replace(keys) else { return nil }
        warnWithout(keys)
        return keys.count
    }

    private func warnWithout(_ keys: SigningKeys) {
        guard keys.count == 0 else { return }
        logger.warning("the key set has no key for signatures; no signed token is accepted")
    }
}

/// Blocks until an asynchronous call has finished; only for threads that have no other work.
func waiting<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
) throws -> Value {
    let (end, outcome) = (DispatchSemaphore(value: 0), Outcome<Value>())
    Task {
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        outcome.result.withLock { $0 = result }
        end.signal()
    }
    while true {
        end.wait()
        if let result = outcome.result.withLock({ $0 }) { return try result.get() }
    }
}

private final class Outcome<Value: Sendable>: Sendable {
    let result = Mutex<Result<Value, any Error>?>(nil)
}
