import JSONText
import Objects
import ServiceDesk
import TestSupport
import Testing

/// What callers may do without a login, where that is given to them.
@Suite struct AnonymousAccessTests {
    private static let operations: [(String, ServiceDesk.Operation)] = [
        ("open", .open), ("read", .read(BucketName(trusted: "shops"))),
        ("write", .write(BucketName(trusted: "shops"))), ("list", .list(.application)),
        ("read alice", .read(BucketName(trusted: "users/alice/notes"))),
        ("write thing", .write(BucketName(trusted: "things/t1/notes"))),
        ("administer", .administer), ("watch", .ownWatch),
    ]

    private static func permitted(
        _ anonymous: AnonymousAccess?, hasTokens: Bool
    ) async throws -> [String] {
        try await withTemporaryFolder { folder in
            let backend = try BackendKind.embedded.open(.init(path: folder + "/store.sqlite"))
            defer { try? backend.close() }
            let access = hasTokens ? AccessControl(tokens: TokenFile()) : nil
            let service = QueryService(backend: backend, limits: Limits(), access: access)
            let caller = Caller(address: "10.0.0.1", anonymous: anonymous)
            return operations.filter { operation in
                (try? service.admit(operation.1, from: caller)) != nil
            }.map(\.0)
        }
    }

    @Test(arguments: [false, true])
    func `A caller without a login may do what it is given, in the application's scope`(
        hasTokens: Bool
    ) async throws {
        #expect(try await Self.permitted(AnonymousAccess.none, hasTokens: hasTokens) == ["open"])
        #expect(
            try await Self.permitted(.read, hasTokens: hasTokens) == ["open", "read", "list"])
        #expect(
            try await Self.permitted(.write, hasTokens: hasTokens)
                == ["open", "read", "write", "list"])
    }

    @Test func `A caller that is given nothing in particular may do all or nothing`() async throws {
        #expect(try await Self.permitted(nil, hasTokens: true) == ["open"])
        #expect(try await Self.permitted(nil, hasTokens: false) == Self.operations.map(\.0))
    }

    @Test(arguments: AnonymousAccess.allCases)
    func `Another node learns what a caller may do without a login`(_ anonymous: AnonymousAccess)
        throws
    {
        var writer = JSONWriter()
        Caller(address: "10.0.0.1", anonymous: anonymous).writePassedOn(to: &writer)
        let caller = try #require(Caller(passedOn: writer.bytes))
        #expect(caller.anonymous == anonymous)
        #expect(caller.address == "10.0.0.1" && caller.grant == nil)
        let strange = Array(#"{"address":"10.0.0.1","anonymous":"all"}"#.utf8)
        #expect(Caller(passedOn: strange) == nil)
    }
}
