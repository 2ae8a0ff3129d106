import JSONText
import Objects
import ServiceDesk
import TestSupport
import Testing

/// A caller whose requests another node passes on may do what it may do there.
@Suite struct PassedOnCallerTests {
    private static func passedOn(_ caller: Caller) -> Caller? {
        var writer = JSONWriter()
        caller.writePassedOn(to: &writer)
        return Caller(passedOn: writer.bytes)
    }

    private static func caller(_ text: String) -> Caller? { Caller(passedOn: Array(text.utf8)) }

    /// Some grant, with names that come up again in others.
    private static func grant(_ random: inout SplitMix64) throws -> Grant {
        func some(_ names: [String], _ random: inout SplitMix64) -> Set<String> {
            Set(names.filter { _ in random.oneIn(2) })
        }
        let buckets = ["shops", "users/alice", "users/bob/notes", "groups/drivers", "things/t1"]
        return try Grant(
            principal: random.pick(["alice", "bob", "x.y-z_1"]),
            role: random.pick(Grant.Role.allCases),
            groups: some(["drivers", "owners"], &random),
            holdsFor: random.oneIn(3) ? nil : some(buckets, &random),
            roles: random.oneIn(3) ? ["shops": .read, "users/*": .append, "things/t1": .edit] : [:])
    }

    @Test(arguments: Seeds.first(40))
    func `Its principal, role, groups and buckets arrive`(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let grant = try Self.grant(&random)
        let address = random.pick(["10.0.0.1", "2001:db8:0:1::/64", "a \"quoted\" \\ name"])
        var text = JSONWriter()
        text.raw(#"{"address":"#)
        text.string(address)
        text.key("principal")
        text.string(grant.principal)
        text.key("role")
        text.string(grant.role.rawValue)
        let lists: [(StaticString, Set<String>?)] = [
            ("groups", grant.groups), ("buckets", grant.roles.isEmpty ? grant.holdsFor : nil),
        ]
        for (name, names) in lists {
            guard let names else { continue }
            text.key(name)
            text.raw("[")
            text.list(names.shuffled(using: &random)) { $1.string($0) }
            text.raw("]")
        }
        if !grant.roles.isEmpty {
            text.raw(",\"buckets\":{")
            text.list(grant.roles.shuffled(using: &random)) { entry, text in
                text.string(entry.key)
                text.raw(":")
                text.string(entry.value.rawValue)
            }
            text.raw("}")
        }
        text.raw("}")
        let read = try #require(Caller(passedOn: text.bytes), "seed \(seed)")
        // What is passed on once more is the same again.
        for caller in [read, try #require(Self.passedOn(read))] {
            #expect(caller.grant == grant, "seed \(seed)")
            #expect(caller.address == address, "seed \(seed)")
            #expect(caller.isPassedOn)
        }
    }

    @Test func `A token that is bound to no bucket stays one that reaches none`() throws {
        let grant = try Grant(principal: "alice", role: .admin, holdsFor: [])
        let text = #"{"address":"a1","principal":"alice","role":"admin","groups":[],"buckets":[]}"#
        let caller = try #require(Self.caller(text))
        #expect(caller.grant == grant)
        #expect(Self.passedOn(caller)?.grant == grant)
    }

    @Test(arguments: [
        "", "[]", "{}", "null", #"{"address":1}"#, #"{"principal":"alice","role":"read"}"#,
        #"{"address":"a1","principal":"alice"}"#,
        #"{"address":"a1","principal":"alice","role":"owner"}"#,
        #"{"address":"a1","principal":"a/b","role":"read"}"#,
        #"{"address":"a1","principal":"","role":"read"}"#,
        #"{"address":"a1","principal":"alice","role":"read","groups":["a/b"]}"#,
        #"{"address":"a1","principal":"alice","role":"read","buckets":["?"]}"#,
        #"{"address":"a1","principal":"alice","role":"read"} x"#,
    ])
    func `A description that is not whole is nobody's`(_ text: String) {
        #expect(Self.caller(text) == nil)
    }

    @Test func `What a passed-on caller may do is what its description says`() async throws {
        let (shops, notes) = (
            BucketName(trusted: "shops"), BucketName(trusted: "users/alice/notes")
        )
        let operations: [(String, ServiceDesk.Operation)] = [
            ("read shops", .read(shops)), ("write shops", .write(shops)),
            ("read notes", .read(notes)), ("write notes", .write(notes)),
            ("list alice", .list(notes.scope)), ("administer", .administer),
        ]
        try await withTemporaryFolder { folder in
            let backend = try BackendKind.embedded.open(.init(path: folder + "/store.sqlite"))
            defer { try? backend.close() }
            var limits = Limits()
            limits.requestsPerSecond = 1
            let service = QueryService(
                backend: backend, limits: limits, access: AccessControl(tokens: TokenFile()))
            for (rest, permitted) in [
                (#""principal":"bob","role":"read""#, ["read shops"]),
                (#""principal":"bob","role":"write""#, ["read shops", "write shops"]),
                (
                    #""principal":"alice","role":"read""#,
                    ["read shops", "read notes", "list alice"]
                ),
                (#""principal":"bob","role":"append""#, ["read shops"]),
                (
                    #""principal":"alice","role":"read","buckets":{"users/alice":"write","shops":"read"}"#,
                    ["read shops", "read notes", "write notes", "list alice"]
                ),
                (
                    #""principal":"alice","role":"write","buckets":["users/alice"]"#,
                    ["read notes", "write notes", "list alice"]
                ),
                (#""principal":"root","role":"admin""#, operations.map(\.0)),
                (
                    #""principal":"root","role":"admin","buckets":["shops"]"#,
                    ["read shops", "write shops"]
                ),
                (#""groups":[]"#, []),
            ] {
                // The rate is counted where the caller is connected, so all of them are asked.
                let caller = try #require(Self.caller(#"{"address":"a1",\#(rest)}"#))
                let found = operations.filter {
                    (try? service.admit($0.1, from: caller)) != nil
                }
                #expect(found.map(\.0) == permitted, "\(rest)")
            }
        }
    }
}
