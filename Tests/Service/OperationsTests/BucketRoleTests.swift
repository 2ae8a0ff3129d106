import BackendContract
import JSONText
import Objects
import Testing

@testable import ServiceDesk

/// Which of a token's names a bucket falls under, and what the role there permits.
@Suite struct BucketRoleTests {
    @Test func `A bucket falls under its own name, else under the longest that fits`() throws {
        let bounds = try BucketBounds([
            "shops", "sh*", "shop*", "users/alice", "users/a*", "things/*", "users/bob/no*",
        ])
        for (bucket, name) in [
            ("shops", "shops"), ("shopping", "shop*"), ("ships", "sh*"), ("stores", nil),
            ("users/alice/notes", "users/alice"), ("users/anna/notes", "users/a*"),
            ("users/alicex/notes", "users/a*"), ("users/bob/notes", "users/bob/no*"),
            ("users/bob/trips", nil), ("things/t1/shops", "things/*"), ("groups/g1/shops", nil),
        ] {
            #expect(bounds.name(of: try BucketName(bucket)) == name, "\(bucket)")
        }
        for (scope, isReached) in [
            ("users/alice", true), ("users/anna", true), ("users/bob", true), ("users/carl", false),
            ("things/t1", true), ("groups/g1", false),
        ] {
            #expect(try bounds.reaches(BucketScope(scope, at: "")) == isReached, "\(scope)")
        }
        let all = try BucketBounds(["*", "shops"])
        #expect(all.name(of: try BucketName("users/alice/notes")) == "*")
        #expect(all.name(of: try BucketName("shops")) == "shops")
    }

    @Test func `The buckets of a scope are told by name where no name has a star`() throws {
        let bounds = try BucketBounds(["shops", "users/alice/b1", "users/bob"])
        #expect(bounds.named(in: .application) == [try BucketName("shops")])
        let alice = try BucketScope("users/alice", at: "")
        #expect(bounds.named(in: alice) == [try BucketName("users/alice/b1")])
        #expect(bounds.named(in: try BucketScope("users/bob", at: "")) == nil)
        #expect(bounds.named(in: try BucketScope("users/carl", at: "")) == [])
        #expect(try BucketBounds(["sh*"]).named(in: .application) == nil)
        #expect(try BucketBounds(["sh*"]).named(in: alice) == [])
    }

    @Test(arguments: [
        "*", "a*", "ab*", "users/*", "us*", "users/alice/*", "users/alice/a*", "things*",
    ])
    func `A star stands behind the beginning of a name that a bucket may have`(_ text: String)
        throws
    {
        _ = try BucketPattern(text, at: "buckets")
    }

    @Test(arguments: [
        "", "**", "*a", "a*b", "orders/*", "-*", "users//*", "users/a/b/*", "a b*", "?",
    ])
    func `What fits no bucket is refused`(_ text: String) {
        #expect(throws: ServiceFailure.self) { try BucketPattern(text, at: "buckets") }
    }

    @Test func `Each role permits what the one before it permits, and one thing more`() {
        let kinds: [WriteKind] = [.adds, .changes, .deletes]
        for (role, permitted) in zip(Grant.Role.allCases, [0, 1, 2, 3, 3]) {
            #expect(kinds.filter(role.permits) == Array(kinds.prefix(permitted)), "\(role)")
        }
    }

    private static func object(
        _ id: String?, expires: Int64? = nil
    ) throws -> PutObject {
        let document = try JSONParser.reading(Array("{}".utf8)) {
            try WrittenDocument($0, at: "object", limits: Limits())
        }
        return PutObject(
            id: id.map(ObjectID.init(trusted:)), document: document, expires: expires)
    }

    @Test func `A write adds, changes or deletes by what may be there`() throws {
        let (shops, id) = (try BucketName("shops"), ObjectID(trusted: "o1"))
        func patch(_ expiry: Expiry) -> Write {
            .patch(
                bucket: shops, id: id, patch: [], ifVersion: nil, ifNewer: nil, expiry: expiry)
        }
        func put(_ id: String?, _ expires: Int64?, _ condition: WriteCondition) throws -> Write {
            let object = try Self.object(id, expires: expires)
            return .put(bucket: shops, object: object, condition: condition)
        }
        func many(_ objects: [PutObject]) -> Write { .putMany(bucket: shops, objects: objects) }
        for (write, kind) in [
            (try put(nil, 5, .none), .adds), (try put("o1", 5, .absent), .adds),
            (try put("o1", nil, .none), .changes), (try put("o1", nil, .version(1)), .changes),
            (try put("o1", 5, .none), .deletes), (patch(.unchanged), .changes),
            (patch(.never), .changes), (patch(.at(5)), .deletes),
            (.delete(bucket: shops, id: id, ifVersion: nil), .deletes),
            (.deleteBucket(shops), .deletes),
            (.deleteWhere(bucket: shops, clause: .all), .deletes), (many([]), .adds),
            (many([try Self.object(nil, expires: 5)]), .adds),
            (many([try Self.object(nil), try Self.object("o1")]), .changes),
            (many([try Self.object("o1", expires: 5), try Self.object(nil)]), .deletes),
        ] as [(Write, WriteKind)] {
            #expect(write.kind == kind, "\(write)")
        }
    }

    @Test
    func `A role for a bucket is neither more nor less than it says, whatever the token's is`()
        throws
    {
        let grant = try Grant(
            principal: "root", role: .admin, roles: ["shops": .read, "users/*": .append])
        let notes = try BucketName("users/alice/notes")
        try grant.check(.read(try BucketName("shops")))
        try grant.check(.write(notes, .adds))
        for operation in [
            .write(try BucketName("shops"), .adds), .write(notes, .changes), .administer,
            .read(try BucketName("stores")),
        ] as [ServiceDesk.Operation] {
            #expect(throws: ServiceFailure.self) { try grant.check(operation) }
        }
    }
}
