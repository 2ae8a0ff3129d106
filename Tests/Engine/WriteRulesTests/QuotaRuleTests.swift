import BackendContract
import Objects
import Testing

/// A write that would pass the quota of its bucket's scope is refused before anything is done.
@Suite struct QuotaRuleTests {
    private static func court(_ quota: Quota) -> Court {
        let limits = Limits()
        limits.quotas.replace(rules: ["users": quota])
        return Court(limits: limits)
    }

    private static func note(
        _ id: String, _ text: String = "{}", in name: String = "notes"
    ) throws -> Write {
        .put(
            bucket: BucketName(trusted: "users/alice/\(name)"), object: try object(text, id: id),
            condition: .none)
    }

    private static let refused = "QUOTA_EXCEEDED bucket"

    @Test func `a quota of objects counts those of all buckets of the scope`() throws {
        let court = Self.court(Quota(objects: 3))
        let notes = BucketName(trusted: "users/alice/notes")
        func many(_ ids: String...) throws -> Write {
            .putMany(bucket: notes, objects: try ids.map { try object("{}", id: $0) })
        }
        #expect(try court.outcome(of: Self.note("o1")) == "[1]")
        #expect(try court.outcome(of: many("o2", "o3", "o4")) == Self.refused)
        #expect(court.state.objectCount == 1)
        #expect(try court.outcome(of: Self.note("o2", in: "trips")) == "[1]")
        // One of the two is there.
        #expect(try court.outcome(of: many("o1", "o3")) == "[2, 1]")
        #expect(try court.outcome(of: Self.note("o4")) == Self.refused)
        #expect(try court.outcome(of: Self.note("o3", #"{"longer":"than before"}"#)) == "[2]")
        let delete = Write.delete(bucket: notes, id: ObjectID(trusted: "o1"), ifVersion: nil)
        #expect(try court.outcome(of: delete) == "deleted 1")
        #expect(try court.outcome(of: Self.note("o4")) == "[1]")
        #expect(try court.outcome(of: put("o9")) == "[1]")
    }

    @Test(arguments: [(11, "[1]"), (10, "[1]"), (9, refused)])
    func `a quota of bytes counts the minified JSON`(_ bytes: Int, _ outcome: String) throws {
        let court = Self.court(Quota(bytes: bytes))
        #expect(try court.outcome(of: Self.note("o1", #"{"a": "ü"}"#)) == outcome)
    }

    @Test func `what makes an object shorter is never refused`() throws {
        let court = Self.court(Quota(bytes: 40))
        #expect(
            try court.outcome(of: Self.note("o1", #"{"a":"0123456789","b":"0123456789"}"#)) == "[1]"
        )
        court.limits.quotas.replace(rules: ["users": Quota(bytes: 5)])
        #expect(try court.outcome(of: Self.note("o2")) == Self.refused)
        func patch(_ text: String) -> Write {
            .patch(
                bucket: BucketName(trusted: "users/alice/notes"), id: ObjectID(trusted: "o1"),
                patch: Array(text.utf8), ifVersion: nil, ifNewer: nil, expiry: .unchanged)
        }
        #expect(try court.outcome(of: patch(#"{"b":null}"#)) == "[2]")
        #expect(try court.outcome(of: patch(#"{"c":1}"#)) == Self.refused)
        #expect(try court.outcome(of: Self.note("o1")) == "[3]")
    }

    @Test func `a quota of buckets counts those that are there`() throws {
        let court = Self.court(Quota(buckets: 1))
        #expect(try court.outcome(of: Self.note("o1")) == "[1]")
        #expect(try court.outcome(of: Self.note("o2")) == "[1]")
        #expect(try court.outcome(of: Self.note("o1", in: "trips")) == Self.refused)
        let notes = BucketName(trusted: "users/alice/notes")
        #expect(try court.outcome(of: .deleteBucket(notes)) == "deleted 2")
        #expect(try court.outcome(of: Self.note("o1", in: "trips")) == "[1]")
    }

    @Test func `an object that has expired leaves its room to the one that takes its id`() throws {
        var court = Self.court(Quota(objects: 1))
        let fading = Write.put(
            bucket: BucketName(trusted: "users/alice/notes"),
            object: try object("{}", id: "o1", expires: 1_500), condition: .none)
        #expect(try court.outcome(of: fading) == "[1]")
        court.now = 2_000
        #expect(try court.outcome(of: Self.note("o1")) == "[1]")
    }
}
