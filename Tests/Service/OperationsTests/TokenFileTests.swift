import Objects
import Testing

@testable import ServiceDesk

/// The tokens file, and what a token permits.
@Suite struct TokenFileTests {
    @Test func `A file comes back as it was written, and holds no token`() throws {
        var file = TokenFile()
        let tokens = (0..<4).map { _ in Token() }
        let grants = [
            try Grant(principal: "alice", role: .read),
            try Grant(
                principal: "bob.b", role: .write, groups: ["drivers", "cooks"],
                holdsFor: ["shops", "users/bob.b", "groups/cooks/menus"], expires: 1_900_000_000_000
            ),
            try Grant(principal: "root", role: .admin, holdsFor: []),
            try Grant(
                principal: "till", role: .edit, holdsFor: ["users/till"],
                roles: ["shops": .read, "sales-*": .append]),
        ]
        for (token, grant) in zip(tokens, grants) { file.add(.init(token, grant, created: 17)) }
        let json = file.json
        #expect(try TokenFile(json: json) == file)
        let text = String(decoding: json, as: UTF8.self)
        for token in tokens {
            #expect(text.contains("\"id\":\"\(token.id)\""))
            #expect(!text.contains(token.text.suffix(43)))
        }
    }

    @Test func `A token has an id and 256 bits that nobody can guess`() {
        let tokens = (0..<100).map { _ in Token() }
        #expect(Set(tokens.map(\.id)).count == 100)
        #expect(Set(tokens.map { $0.text.suffix(43) }).count == 100)
        for token in tokens {
            #expect(token.text.wholeMatch(of: /gbt_[0-9a-f]{12}_[A-Za-z0-9_-]{43}/) != nil)
            #expect(token.text.contains(token.id))
        }
    }

    /// Random numbers that a test has chosen; it traps where they do not suffice.
    private struct Chosen: RandomNumberGenerator {
        var numbers: [UInt64]

        mutating func next() -> UInt64 { numbers.removeFirst() }
    }

    @Test func `Every bit of a token comes from the random numbers, and nothing else`() {
        let none = [UInt64](repeating: 0, count: 38)
        func text(_ numbers: [UInt64]) -> String {
            var chosen = Chosen(numbers: numbers)
            return Token(from: &chosen).text
        }
        #expect(text(none) == "gbt_000000000000_" + String(repeating: "A", count: 43))
        for position in none.indices {
            for bit in 0..<8 {
                var numbers = none
                numbers[position] = 1 << UInt64(bit)
                #expect(text(numbers) != text(none), "byte \(position), bit \(bit)")
            }
        }
    }

    @Test func `Tokens are added and removed by their ids`() throws {
        var file = TokenFile()
        let grant = try Grant(principal: "alice", role: .read)
        let tokens = (0..<4).map { _ in Token() }
        for token in tokens { file.add(.init(token, grant, created: 0)) }
        let removed = [1, 1].map { file.remove(id: tokens[$0].id) }
        #expect(removed == [true, false])
        #expect(file.entries.map(\.id) == [tokens[0].id, tokens[2].id, tokens[3].id])
        for token in tokens {
            #expect(file[id: token.id]?.id == (token.id == tokens[1].id ? nil : token.id))
        }
        let others = [3, 0].map { file.remove(id: tokens[$0].id) }
        #expect(others == [true, true])
        #expect(file.entries.map(\.id) == [tokens[2].id])
    }

    @Test(arguments: [
        ("", "JSON"), ("[]", "tokens"), (#"{"tokens":1}"#, "tokens"),
        (#"{"tokens":[1]}"#, "tokens[0]: expected an object"),
        (#"{"tokens":[{"id":"a"}]}"#, "tokens[0]: expected \"id\""),
        (#"{"tokens":[TOKEN,TOKEN]}"#, "tokens[1]: the id stands here twice"),
        (#"{"tokens":[{"id":"a","principal":"p","role":"god","sha256":"HASH"}]}"#, "role"),
        (#"{"tokens":[{"id":"a","principal":"p/q","role":"read","sha256":"HASH"}]}"#, "principal"),
        (#"{"tokens":[{"id":"a","principal":"p","role":"read","sha256":"+1"}]}"#, "sha256"),
        (#"{"tokens":[{"id":"a","principal":"p","role":"read","sha256":"HASH","x":1}]}"#, "\"x\""),
        (
            #"{"tokens":[{"id":"a","principal":"p","role":"read","sha256":"HASH","groups":"g"}]}"#,
            "groups"
        ),
        (
            #"{"tokens":[{"id":"a","principal":"p","role":"read","sha256":"HASH","buckets":["-"]}]}"#,
            "buckets"
        ),
        (
            #"{"tokens":[{"id":"a","principal":"p","sha256":"HASH","buckets":{"shops":"god"}}]}"#,
            "tokens[0]: buckets.shops: expected a role"
        ),
        (
            #"{"tokens":[{"id":"a","principal":"p","sha256":"HASH","buckets":{"shops":"admin"}}]}"#,
            "tokens[0]: buckets: the role \"admin\""
        ),
        (
            #"{"tokens":[{"id":"a","principal":"p","sha256":"HASH","buckets":["shops"]}]}"#,
            "tokens[0]: role: expected a role"
        ),
        (
            #"{"tokens":[{"id":"a","principal":"p","sha256":"HASH","buckets":{"shops":"read","shops":"write"}}]}"#,
            "twice"
        ),
        (
            #"{"tokens":[{"id":"a","principal":"p","role":"read","sha256":"HASH","buckets":["users/p","users/p/*"]}]}"#,
            "twice"
        ),
        (
            #"{"tokens":[{"id":"a","principal":"p","role":"read","sha256":"HASH","expires":"soon"}]}"#,
            "tokens[0]: expires"
        ),
        (
            #"{"tokens":[{"id":"a","principal":"p","role":"read","sha256":"HASH","created":"x"}]}"#,
            "tokens[0]: created"
        ),
    ])
    func `A file that makes no sense is refused with its place`(_ json: String, _ place: String) {
        let hash = String(repeating: "0a", count: 32)
        let token = #"{"id":"a","principal":"p","role":"read","sha256":"HASH"}"#
        let text = json.replacing("TOKEN", with: token).replacing("HASH", with: hash)
        let fault = #expect(throws: TokenFileFault.self) { try TokenFile(json: Array(text.utf8)) }
        #expect(fault?.description.contains(place) == true, "\(fault?.description ?? "")")
    }

    @Test func `With roles for buckets a token needs no other; its own is the strongest of them`()
        throws
    {
        let hash = String(repeating: "0a", count: 32)
        let text =
            #"{"tokens":[{"id":"a","principal":"p","sha256":"\#(hash)","buckets":{"shops":"read","logs":"append"}}]}"#
        let grant = try #require(try TokenFile(json: Array(text.utf8))[id: "a"]).grant
        #expect(grant.role == .append)
        #expect(grant.holdsFor == ["shops", "logs"])
        #expect(grant.roles == ["shops": .read, "logs": .append])
    }

    @Test(arguments: ["", "a/b", ".", "..", "a b", String(repeating: "x", count: 101)])
    func `A principal is the owner of a scope, and nothing else can be one`(_ name: String) {
        #expect(throws: ServiceFailure.self) { try Grant(principal: name, role: .read) }
        #expect(throws: ServiceFailure.self) {
            try Grant(principal: "p", role: .read, groups: [name])
        }
    }
}
