import JSONText
import Objects

/// The keys that verify signed tokens: JWTs (RFC 7519), signed by a key of a key set (JWKS, RFC
/// 7517).
///
/// A token names its key by `kid`. Its claims are `principal` (else `sub`), `role`, `groups` and
/// `buckets` as in a tokens file; `exp` and `nbf` (seconds since 1970); `iss` and `aud`, as the rules
/// demand. An `aud` must name this service in any case.
public struct SigningKeys: Sendable, Equatable {
    /// What a token needs besides a signature.
    public struct Rules: Sendable, Equatable {
        /// The name that `aud` must contain.
        public var audience = "geobucket"
        /// Whether a token must have an `aud`.
        public var demandsAudience = false
        /// What `iss` must be; nil: anything, or missing.
        public var issuer: String?
        /// Whether a token must have an `exp`; a token without one is valid as long as its key.
        public var demandsExpiry = true

        /// The audience `geobucket`, not required, any issuer, and `exp` required.
        public init() {}
    }

    struct Key: Sendable, Equatable {
        let verifier: VerifyingKey
        /// The key's text in the key set.
        let text: [UInt8]

        var id: String { verifier.id }

        static func == (a: Key, b: Key) -> Bool { a.text == b.text }
    }

    /// Whether this build accepts signed tokens: the package trait JWT.
    public static var isAvailable: Bool { VerifyingKey.isAvailable }

    private let keys: [String: Key]
    private let rules: Rules

    /// How many keys of the set are usable.
    public var count: Int { keys.count }

    /// - Parameter jwks: `{"keys":[…]}`; the array may be empty. Keys that are not for signatures,
    ///   have no `kid`, or are of an unknown kind are skipped, as the standard requires.
    /// - Throws: `TokenFileFault` for text that is no key set.
    public init(jwks: [UInt8], rules: Rules = Rules()) async throws {
        self.rules = rules
        var keys: [String: Key] = [:]
        for text in try Self.texts(jwks) {
            guard let key = await Self.key(text) else { continue }
            guard keys.updateValue(key, forKey: key.id) == nil else {
                throw TokenFileFault(description: "the key \(quoted(key.id)) stands here twice")
            }
        }
        self.keys = keys
    }

    private static func texts(_ jwks: [UInt8]) throws -> [[UInt8]] {
        do {
            return try JSONParser.reading(jwks) { set in
                guard let keys = set["keys"], keys.kind == .array else {
                    throw TokenFileFault(description: "expected an object with an array \"keys\"")
                }
                return keys.elements.filter { $0["use"].map { $0.string == "sig" } ?? true }
                    .map { Array($0.text) }
            }
        } catch let error as JSONSyntaxError {
            throw TokenFileFault(description: error.message)
        }
    }

    private static func key(_ text: [UInt8]) async -> Key? {
        await VerifyingKey(jwk: text).map { Key(verifier: $0, text: text) }
    }

    func holds(_ key: Key) -> Bool { keys[key.id] == key }

    /// A token that names a key of the set; its signature is not verified yet.
    private struct Claimed {
        let key: Key
        let claims: [UInt8]
        let signed: [UInt8]
        let signature: [UInt8]
    }

    private func claimed(_ token: String) -> Claimed? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(String(parts[0])),
            let claims = Base64URL.decode(String(parts[1])),
            let signature = Base64URL.decode(String(parts[2])), let key = key(header: header)
        else { return nil }
        return Claimed(
            key: key, claims: claims, signed: Array("\(parts[0]).\(parts[1])".utf8),
            signature: signature)
    }

    /// The principal that a token claims, if it names a key of the set.
    func bearer(of token: String) -> String? {
        guard let claimed = claimed(token),
            let principal = try? JSONParser.reading(claimed.claims, Self.principal),
            (try? BucketScope("users/" + principal, at: "principal")) != nil
        else { return nil }
        return principal
    }

    /// The permissions of a token, and the key that signed it.
    ///
    /// - Throws: `WRONG_TOKEN` unless the token is signed and valid now.
    func login(
        _ token: String, nowMilliseconds: Int64
    ) throws(ServiceFailure) -> (grant: Grant, key: Key) {
        guard let claimed = claimed(token),
            claimed.key.verifier.accepts(claimed.signature, of: claimed.signed),
            let grant = try? JSONParser.reading(
                claimed.claims, { try self.grant($0, nowMilliseconds) })
        else { throw .wrongToken }
        guard grant.expires != nil || !rules.demandsExpiry else {
            throw .wrongToken("the token has no \"exp\": it has to say when it expires")
        }
        return (grant, claimed.key)
    }

    /// The key that a header names, if its algorithm matches the header's.
    private func key(header: [UInt8]) -> Key? {
        try? JSONParser.reading(header) { header in
            // `crit` lists extensions that must be understood (RFC 7515, 4.1.11); none is
            // supported.
            guard header["crit"] == nil, let key = header["kid"]?.string.flatMap({ keys[$0] }),
                header["alg"]?.string == key.verifier.algorithmName
            else { return nil }
            return key
        }
    }

    private func grant(_ claims: JSONView, _ now: Int64) throws -> Grant? {
        guard isMeantForUs(claims), let principal = Self.principal(claims) else { return nil }
        let (begin, end) = (try milliseconds("nbf", claims), try milliseconds("exp", claims))
        let (buckets, roles) = try claims.buckets()
        let grant = try Grant(
            principal: principal, role: try claims.role(),
            groups: try claims.strings("groups") ?? [], holdsFor: buckets, roles: roles,
            expires: end)
        return grant.isVoid(now) || (begin ?? now) > now ? nil : grant
    }

    private static func principal(_ claims: JSONView) -> String? {
        (claims["principal"] ?? claims["sub"])?.string
    }

    private func isMeantForUs(_ claims: JSONView) -> Bool {
        if let issuer = rules.issuer, claims["iss"]?.string != issuer { return false }
        guard let meant = claims["aud"] else { return !rules.demandsAudience }
        guard meant.kind == .array else { return meant.string == rules.audience }
        return meant.elements.contains { $0.string == rules.audience }
    }

    private func milliseconds(
        _ name: StaticString, _ claims: JSONView
    ) throws(ServiceFailure) -> Int64? {
        guard let value = claims[name] else { return nil }
        guard let seconds = value.number?.double, abs(seconds) < 1e12 else {
            throw ServiceFailure(.invalidInputData, "expected seconds since 1970", at: "\(name)")
        }
        return Int64(seconds * 1_000)
    }
}
