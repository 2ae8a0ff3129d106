import Crypto
import CryptoExtras
import JSONText
import Objects
import TestSupport
import Testing

@testable import ServiceDesk

/// Tokens that a key has signed: which are accepted, and what they permit.
@Suite struct SigningKeysTests {
    private static let now: Int64 = 1_700_000_000_000
    private static let alice = #"{"sub":"alice","role":"write","exp":1800000000}"#

    private static func keys(
        _ set: String, _ rules: SigningKeys.Rules = .init()
    ) async throws -> SigningKeys {
        try await SigningKeys(jwks: Array(set.utf8), rules: rules)
    }

    private static func grant(_ keys: SigningKeys, _ token: String) -> Grant? {
        try? keys.login(token, nowMilliseconds: now).grant
    }

    private static func signer(
        _ algorithm: String, _ members: String,
        _ signature: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) -> TokenSigner {
        TokenSigner(
            algorithm: algorithm, id: "k1", jwk: #"{"kid":"k1",\#(members)}"#,
            signature: signature)
    }

    /// The members of a public key on a curve.
    private static func halves(_ point: some Sequence<UInt8>) -> String {
        let bytes = Array(point)
        let half = bytes.count / 2
        return #""x":"\#(Base64URL.encode(Array(bytes[..<half])))","#
            + #""y":"\#(Base64URL.encode(Array(bytes[half...])))""#
    }

    /// A signer with a key of each kind. Only the last key names its algorithm.
    private static func signers() throws -> [TokenSigner] {
        let p384 = P384.Signing.PrivateKey()
        let p521 = P521.Signing.PrivateKey()
        let edwards = Curve25519.Signing.PrivateKey()
        let rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let primitives = try rsa.publicKey.getKeyPrimitives()
        let rsaMembers =
            #""kty":"RSA","n":"\#(Base64URL.encode(Array(primitives.modulus)))","#
            + #""e":"\#(Base64URL.encode(Array(primitives.publicExponent)))""#
        return [
            TokenSigner(),
            signer(
                "ES384", #""kty":"EC","crv":"P-384","# + halves(p384.publicKey.rawRepresentation)
            ) {
                Array(try p384.signature(for: $0).rawRepresentation)
            },
            signer(
                "ES512", #""kty":"EC","crv":"P-521","# + halves(p521.publicKey.rawRepresentation)
            ) {
                Array(try p521.signature(for: $0).rawRepresentation)
            },
            signer(
                "EdDSA",
                #""kty":"OKP","crv":"Ed25519","x":"\#(Base64URL.encode(Array(edwards.publicKey.rawRepresentation)))""#
            ) { Array(try edwards.signature(for: $0)) },
            signer("RS256", rsaMembers) {
                Array(
                    try rsa.signature(for: SHA256.hash(data: $0), padding: .insecurePKCS1v1_5)
                        .rawRepresentation)
            },
            signer("PS384", rsaMembers + #","alg":"PS384""#) {
                Array(
                    try rsa.signature(for: SHA384.hash(data: $0), padding: .PSS).rawRepresentation)
            },
        ]
    }

    @Test func `Keys of each kind sign, with the algorithm they name or the usual one`()
        async throws
    {
        for signer in try Self.signers() {
            let keys = try await Self.keys(signer.keySet())
            let token = try signer.token(Self.alice)
            let grant = Self.grant(keys, token)
            #expect(grant?.principal == "alice", "\(signer.algorithm)")
            let other = try signer.token(#"{"sub":"bob","role":"write","exp":1800000000}"#)
            let mixed = token.split(separator: ".")[..<2] + other.split(separator: ".")[2...]
            #expect(
                Self.grant(keys, mixed.joined(separator: ".")) == nil, "\(signer.algorithm)")
        }
    }

    @Test func `Claims are those of a tokens file, with the standard's times and audience`()
        async throws
    {
        let signer = TokenSigner()
        let keys = try await Self.keys(signer.keySet())
        let whole = """
            {"sub":"7f3a","principal":"alice","role":"admin","groups":["drivers"],\
            "buckets":["shops","users/alice"],"aud":["maps","geobucket"],"nbf":1700000000,\
            "exp":1700000000.5,"iss":"https://id.example.org/"}
            """
        #expect(
            Self.grant(keys, try signer.token(whole))
                == (try Grant(
                    principal: "alice", role: .admin, groups: ["drivers"],
                    holdsFor: ["shops", "users/alice"], expires: 1_700_000_000_500)))
        #expect(
            Self.grant(keys, try signer.token(Self.alice))
                == (try Grant(principal: "alice", role: .write, expires: 1_800_000_000_000)))
        let roles =
            #"{"sub":"till","buckets":{"shops":"read","sales-*":"append"},"exp":1800000000}"#
        #expect(
            Self.grant(keys, try signer.token(roles))
                == (try Grant(
                    principal: "till", role: .append, roles: ["shops": .read, "sales-*": .append],
                    expires: 1_800_000_000_000)))
        let wrong = #"{"sub":"till","buckets":{"shops":"god"},"exp":1800000000}"#
        #expect(Self.grant(keys, try signer.token(wrong)) == nil)
    }

    @Test func `A token without exp is refused with the reason, unless the rules allow it`()
        async throws
    {
        let signer = TokenSigner()
        let endless = try signer.token(#"{"sub":"alice","role":"write"}"#)
        let keys = try await Self.keys(signer.keySet())
        let failure = #expect(throws: ServiceFailure.self) {
            try keys.login(endless, nowMilliseconds: Self.now)
        }
        #expect(failure?.reason == .wrongToken)
        #expect(failure?.message == #"the token has no "exp": it has to say when it expires"#)
        // Nobody learns more of a token that no key has signed.
        let forged = try TokenSigner().token(#"{"sub":"alice","role":"write"}"#)
        let unsigned = #expect(throws: ServiceFailure.self) {
            try keys.login(forged, nowMilliseconds: Self.now)
        }
        #expect(unsigned?.message == "the token is not valid")
        var rules = SigningKeys.Rules()
        rules.demandsExpiry = false
        let lenient = try await Self.keys(signer.keySet(), rules)
        #expect(Self.grant(lenient, endless) == (try Grant(principal: "alice", role: .write)))
    }

    @Test func `Where the rules name an issuer or an audience, a token has to name them`()
        async throws
    {
        let signer = TokenSigner()
        var rules = SigningKeys.Rules()
        rules.issuer = "https://id.example.org/"
        rules.demandsAudience = true
        let keys = try await Self.keys(signer.keySet(), rules)
        for (claims, isAccepted) in [
            (#""aud":"geobucket","iss":"https://id.example.org/""#, true),
            (#""aud":["maps","geobucket"],"iss":"https://id.example.org/""#, true),
            (#""iss":"https://id.example.org/""#, false), (#""aud":"geobucket""#, false),
            (#""aud":"geobucket","iss":"https://id.example.org""#, false),
            (#""aud":"geobucket","iss":["https://id.example.org/"]"#, false),
            (#""aud":"maps","iss":"https://id.example.org/""#, false), (#""x":1"#, false),
        ] {
            let token = try signer.token(
                #"{"sub":"alice","role":"write","exp":1800000000,\#(claims)}"#)
            #expect((Self.grant(keys, token) != nil) == isAccepted, "\(claims)")
        }
    }

    @Test(arguments: [
        #"{"sub":"alice","exp":1800000000}"#, #"{"role":"write","exp":1800000000}"#,
        #"{"sub":"alice","role":"owner","exp":1800000000}"#,
        #"{"sub":"a/b","role":"write","exp":1800000000}"#,
        #"{"sub":"alice","role":"write","groups":"drivers","exp":1800000000}"#,
        #"{"sub":"alice","role":"write","buckets":[1],"exp":1800000000}"#,
        #"{"sub":"alice","role":"write","aud":"maps","exp":1800000000}"#,
        #"{"sub":"alice","role":"write","aud":[],"exp":1800000000}"#,
        #"{"sub":"alice","role":"write","aud":null,"exp":1800000000}"#,
        #"{"sub":"alice","role":"write","exp":1700000000}"#,
        #"{"sub":"alice","role":"write","exp":"1800000000"}"#,
        #"{"sub":"alice","role":"write","exp":1e300}"#,
        #"{"sub":"alice","role":"write","nbf":1700000000.001,"exp":1800000000}"#, "[]", "{", "",
    ])
    func `Claims that make no sense, or not now, or not here, permit nothing`(
        _ claims: String
    ) async throws {
        let signer = TokenSigner()
        let keys = try await Self.keys(signer.keySet())
        #expect(Self.grant(keys, try signer.token(claims)) == nil)
    }

    @Test func `Only the key and algorithm that the header names count`() async throws {
        let signer = TokenSigner()
        let keys = try await Self.keys(signer.keySet(TokenSigner(id: "k2").jwk))
        #expect(Self.grant(keys, try signer.token(Self.alice)) != nil)
        #expect(Self.grant(keys, try TokenSigner().token(Self.alice)) == nil)
        for header in [
            #"{"alg":"ES256"}"#, #"{"alg":"ES256","kid":"k2"}"#, #"{"alg":"ES256","kid":"k3"}"#,
            #"{"alg":"none","kid":"k1"}"#, #"{"alg":"HS256","kid":"k1"}"#, #"{"kid":"k1"}"#,
            #"{"alg":"ES384","kid":"k1"}"#, #"{"alg":"ES256","kid":"k1","crit":["exp"]}"#, "1", "",
        ] {
            let token = try signer.token(Self.alice, header: header)
            #expect(Self.grant(keys, token) == nil, "\(header)")
        }
        let good = try signer.token(Self.alice)
        let parts = good.split(separator: ".").map(String.init)
        let others = Base64URL.encode(
            Array(#"{"sub":"alice","role":"admin","exp":1800000000}"#.utf8))
        for text in [
            "", "..", "...", good + ".", good + "=", String(good.dropLast(4)),
            "\(parts[0]).\(parts[1]).", "\(parts[0]).\(others).\(parts[2])", "." + good,
        ] {
            #expect(Self.grant(keys, text) == nil, "\(text)")
        }
    }

    @Test func `Of a key set that has others too those for signatures are taken`() async throws {
        let signer = TokenSigner()
        let keys = try await Self.keys(
            signer.keySet(
                #"{"kty":"oct","kid":"k9","k":"AAAA"}"#, #"{"kty":"new","kid":"k8"}"#, "{}", "1",
                #"{"kty":"RSA","use":"enc","alg":"RSA-OAEP","kid":"k1","n":"AQAB","e":"AQAB"}"#))
        #expect(keys.count == 1)
        #expect(Self.grant(keys, try signer.token(Self.alice)) != nil)
    }

    @Test func `What is no key set is told so`() async throws {
        let signer = TokenSigner()
        for (set, fault) in [
            ("{}", #"expected an object with an array "keys""#),
            ("[]", #"expected an object with an array "keys""#),
            (signer.keySet(signer.jwk), #"the key "k1" stands here twice"#),
        ] {
            await #expect(throws: TokenFileFault(description: fault)) { try await Self.keys(set) }
        }
        await #expect(throws: TokenFileFault.self) { try await Self.keys("{") }
    }

    @Test func `An empty key set is a set, and withdraws the last key`() async throws {
        let (signer, now) = (TokenSigner(), Self.now)
        for set in [#"{"keys":[]}"#, #"{"keys":[{"kty":"new","kid":"k1"}]}"#] {
            let access = AccessControl(
                tokens: TokenFile(), keys: try await Self.keys(signer.keySet()))
            let login = try access.login(signer.token(Self.alice), nowMilliseconds: now)
            let empty = try await Self.keys(set)
            #expect(empty.count == 0)
            #expect(access.replace(empty))
            #expect(access.renew(login) { now } == nil)
            #expect(!access.replace(empty))
        }
    }

    @Test func `A login holds while its key does, until it expires`() async throws {
        let (signer, now) = (TokenSigner(), Self.now)
        let access = AccessControl(tokens: TokenFile(), keys: try await Self.keys(signer.keySet()))
        let token = try signer.token(#"{"sub":"alice","role":"read","exp":1700000010}"#)
        let login = try access.login(token, nowMilliseconds: now)
        access.replace(try await Self.keys(signer.keySet(TokenSigner(id: "k2").jwk)))
        let renewed = try #require(access.renew(login) { now })
        #expect(renewed.generation == 1)
        #expect(access.renew(renewed) { now + 9_999 } != nil)
        #expect(access.renew(renewed) { now + 10_000 } == nil)
        access.replace(try await Self.keys(TokenSigner().keySet()))
        #expect(access.renew(renewed) { now } == nil)
        #expect(throws: ServiceFailure.self) { try access.login(token, nowMilliseconds: now) }
    }
}
