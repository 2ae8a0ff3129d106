import JSONText
import Objects
import ServiceDesk
import TestSupport
import Testing

/// Failed logins: who has to wait for them, and who does not.
@Suite struct FailedLoginRules {
    private static let limits = {
        var limits = Limits()
        limits.handshakeMilliseconds = 3_600_000
        limits.failedLogins = 3
        limits.failedLoginMilliseconds = 60_000
        return limits
    }()

    private static let (wrong, late) = ("1401 WRONG_TOKEN token", "1429 TOO_MANY_REQUESTS")

    private static func login(_ token: String) -> (method: String, params: String) {
        ("auth.login", #"{"token":"\#(token)"}"#)
    }

    private static func repeated(_ outcome: String, _ count: Int) -> [String] {
        Array(repeating: outcome, count: count)
    }

    @Test func `Failed logins slow an address down, and the wait is told`() async throws {
        try await LoginRules.with(limits: Self.limits) { guarded in
            let wrong = Self.login("gbt_1_2")
            let right = Self.login(guarded.tokens["reader"]!.text)
            // Logins that succeed do not count.
            let calls = [right, right, right, wrong, wrong, right, wrong, wrong, wrong]
            let outcomes = try await guarded.outcomes(as: nil, calls)
            #expect(
                outcomes == [
                    "accepted", "accepted", "accepted", Self.wrong, Self.wrong, "accepted",
                    Self.wrong, Self.late, Self.late,
                ])
            let line = try await guarded.service.line(
                #"{"jsonrpc":"2.0","id":1,"method":"auth.login","params":{"token":"x"}}"#)
            let wait = try JSONValue(parsing: line)["error"]?["data"]?["retryAfterMillis"]?.int
            #expect((1...60_000).contains(wait ?? 0))
        }
    }

    @Test func `Who has a token does not wait for the failures of others at the address`()
        async throws
    {
        try await LoginRules.with(limits: Self.limits) { guarded in
            let guesses = (0..<20).map { Self.login("gbt_\($0)_x") }
            let outcomes = try await guarded.outcomes(as: nil, guesses)
            #expect(outcomes == Self.repeated(Self.wrong, 3) + Self.repeated(Self.late, 17))
            for name in ["reader", "writer", "admin"] {
                let right = [Self.login(guarded.tokens[name]!.text)]
                #expect(try await guarded.outcomes(as: nil, right) == ["accepted"], "\(name)")
            }
        }
    }

    @Test func `The secret of one token is guessed failedLogins times, then after a wait each`()
        async throws
    {
        let clock = TestClock()
        let tokens = Dictionary(
            uniqueKeysWithValues: LoginRules.grants.keys.map { ($0, Token()) })
        let access = AccessControl(tokens: LoginRules.file(tokens, LoginRules.grants))
        let limits = Self.limits
        try await TestService.with(limits: limits, access: access, monotonic: clock) { service in
            let guarded = LoginRules.Guarded(service: service, access: access, tokens: tokens)
            let (mine, others) = (tokens["reader"]!, tokens["writer"]!)
            let right = Self.login(mine.text)
            func guesses(_ count: Int, of token: Token) -> [(method: String, params: String)] {
                (0..<count).map { Self.login("gbt_\(token.id)_guess\($0)") }
            }
            func outcomes(_ calls: [(method: String, params: String)]) async throws -> [String] {
                try await guarded.outcomes(as: nil, calls)
            }
            // The right one waits with the wrong ones: else nothing would bound the guesses.
            #expect(
                try await outcomes(guesses(4, of: mine) + [right])
                    == Self.repeated(Self.wrong, 3) + Self.repeated(Self.late, 2))
            // The address has failed too often by now. Another's token is guessed as seldom, and the
            // answer does not tell that there is such a token.
            let other = try await outcomes(guesses(20, of: others))
            #expect(other == Self.repeated(Self.late, 20))
            let blocked = try await outcomes([Self.login(others.text)])
            #expect(blocked == [Self.late])
            clock.advance(59_999_999_999)
            #expect(try await outcomes([right]) == [Self.late])
            clock.advance(1)
            #expect(try await outcomes(guesses(1, of: mine) + [right]) == [Self.wrong, Self.late])
            clock.advance(60_000_000_000)
            #expect(try await outcomes([right]) == ["accepted"])
            #expect(try await outcomes([Self.login(others.text)]) == ["accepted"])
        }
    }

    @Test func `Signed tokens are counted by the principal they claim`() async throws {
        let signer = TokenSigner()
        let keys = try await SigningKeys(jwks: Array(signer.keySet().utf8))
        let access = AccessControl(tokens: TokenFile(), keys: keys)
        try await TestService.with(limits: Self.limits, access: access) { service in
            let guarded = LoginRules.Guarded(service: service, access: access, tokens: [:])
            func signed(
                _ signer: TokenSigner, _ principal: String
            ) throws -> (method: String, params: String) {
                Self.login(
                    try signer.token(#"{"sub":"\#(principal)","role":"read","exp":9999999999}"#))
            }
            // The same key id, another key.
            let forged = try signed(TokenSigner(), "alice")
            let outcomes = try await guarded.outcomes(
                as: nil, Array(repeating: forged, count: 5) + [try signed(signer, "alice")])
            #expect(outcomes == Self.repeated(Self.wrong, 3) + Self.repeated(Self.late, 3))
            let bob = try await guarded.outcomes(as: nil, [try signed(signer, "bob")])
            #expect(bob == ["accepted"])
            // A key that is not there, and what is no principal, count for the address.
            for stranger in [
                try signed(TokenSigner(id: "k9"), "bob"), try signed(TokenSigner(), "b/b"),
            ] {
                #expect(try await guarded.outcomes(as: nil, [stranger]) == [Self.late])
            }
        }
    }
}
