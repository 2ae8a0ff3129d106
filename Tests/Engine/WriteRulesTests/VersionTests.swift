import Objects
import TestSupport
import Testing

@testable import BackendContract

/// What a write asks of the object that is there, and what it leaves of it.
@Suite struct VersionTests {
    /// What may be there of an id before a write.
    enum Before {
        case nothing, version1, version3, expired, damaged
    }

    /// A court in which `o1` is what it says.
    private func court(_ before: Before) throws -> Court {
        var court = Court()
        guard before != .nothing else { return court }
        for _ in 0..<(before == .version1 ? 1 : 3) {
            _ = try court.result(
                of: try put("o1", #"{"a":1}"#, expires: before == .expired ? 1_500 : nil))
        }
        court.now = 2_000
        if before == .damaged { court.damage("o1") }
        return court
    }

    private func outcome(_ before: Before, _ write: Write) throws -> String {
        let court = try court(before)
        do {
            return try court.outcome(of: write)
        } catch is DictionaryState.Damage {
            return "fails"
        }
    }

    private static let stale = "OBJECT_VERSION_IS_STALE ifVersion"

    @Test(
        arguments: [
            (.nothing, ["[1]", "[1]", "OBJECT_NOT_FOUND", "OBJECT_NOT_FOUND"]),
            (.version1, ["[2]", "OBJECT_ALREADY_EXISTS id", "[2]", VersionTests.stale]),
            (.version3, ["[4]", "OBJECT_ALREADY_EXISTS id", VersionTests.stale, "[4]"]),
            (.expired, ["[1]", "[1]", "OBJECT_NOT_FOUND", "OBJECT_NOT_FOUND"]),
            (.damaged, ["fails", "fails", "fails", "fails"]),
        ] as [(Before, [String])])
    func `a put goes by what is there and by its condition`(
        before: Before, expected: [String]
    ) throws {
        let conditions: [WriteCondition] = [.none, .absent, .version(1), .version(3)]
        for (condition, expected) in zip(conditions, expected) {
            let found = try outcome(before, try put("o1", if: condition))
            #expect(found == expected, "\(condition)")
        }
    }

    @Test(
        arguments: [
            (.nothing, ["OBJECT_NOT_FOUND", "OBJECT_NOT_FOUND", "OBJECT_NOT_FOUND"]),
            (.version1, ["[2]", "[2]", VersionTests.stale]),
            (.version3, ["[4]", VersionTests.stale, "[4]"]),
            (.expired, ["OBJECT_NOT_FOUND", "OBJECT_NOT_FOUND", "OBJECT_NOT_FOUND"]),
            (.damaged, ["fails", "fails", "fails"]),
        ] as [(Before, [String])])
    func `a patch goes by what is there and by its version`(
        before: Before, expected: [String]
    ) throws {
        for (version, expected) in zip([nil, 1, 3] as [Int64?], expected) {
            let found = try outcome(before, patch("o1", ifVersion: version))
            #expect(found == expected, "\(String(describing: version))")
        }
    }

    @Test(
        arguments: [
            (.nothing, ["OBJECT_NOT_FOUND", "OBJECT_NOT_FOUND", "OBJECT_NOT_FOUND"]),
            (.version1, ["deleted 1", "deleted 1", VersionTests.stale]),
            (.version3, ["deleted 1", VersionTests.stale, "deleted 1"]),
            (.expired, ["OBJECT_NOT_FOUND", "OBJECT_NOT_FOUND", "OBJECT_NOT_FOUND"]),
            (.damaged, ["deleted 1", "fails", "fails"]),
        ] as [(Before, [String])])
    func `a delete goes by what is there and by its version; what is damaged can be deleted`(
        before: Before, expected: [String]
    ) throws {
        for (version, expected) in zip([nil, 1, 3] as [Int64?], expected) {
            let found = try outcome(before, delete("o1", ifVersion: version))
            #expect(found == expected, "\(String(describing: version))")
        }
    }

    @Test func `a refusal names the version that is there`() throws {
        let court = try court(.version3)
        let expected = ServiceFailure(
            .versionIsStale, "the object has version 3, not 1", at: "ifVersion")
        #expect(throws: expected) {
            _ = try court.result(of: delete("o1", ifVersion: 1)).get()
        }
    }

    @Test func `a put with a version but no id finds no object`() throws {
        let found = try Court(newIDs: ["n1"]).outcome(of: try put(nil, if: .version(1)))
        #expect(found == "OBJECT_NOT_FOUND")
    }

    @Test
    func `a put replaces the document and the expiry, and keeps who made the object and when`()
        throws
    {
        var court = Court()
        _ = try court.result(
            of: .put(
                bucket: shops,
                object: try object(
                    #"{"a":1}"#, id: "o1", owner: "alice", dataType: "t", expires: 9_000),
                condition: .none))
        court.now = 2_000
        _ = try court.result(
            of: .put(
                bucket: shops,
                object: try object(#"{"b":2}"#, id: "o1", owner: "bob", dataType: "u"),
                condition: .none))
        #expect(
            court.text("o1")
                == #"{"_id":"o1","_created":1000,"_modified":2000,"_version":2,"_owner":"alice","#
                + #""_dataType":"t","b":2}"#)
    }

    @Test func `an object is modified no earlier than before, whatever the clock does`() {
        let before = ObjectMetadata(
            id: ObjectID(trusted: "o1"), created: 5, modified: 50, version: 7)
        for (now, modified) in [(49, 50), (50, 50), (51, 51)] as [(Int64, Int64)] {
            let next = before.next(at: now, expires: nil)
            #expect(next.modified == modified)
            #expect(next.version == 8)
            #expect(next.created == 5)
        }
    }

    @Test func `an object that is created where one was deleted is a new one`() throws {
        var court = Court()
        for _ in 0..<3 { _ = try court.result(of: try put("o1")) }
        _ = try court.result(of: delete("o1"))
        court.now = 500
        #expect(try court.outcome(of: try put("o1")) == "[1]")
        #expect(court.text("o1") == #"{"_id":"o1","_created":500,"_modified":500,"_version":1}"#)
    }

    @Test func `the answer has id, times and version`() throws {
        let court = Court(newIDs: ["n1"])
        let answer = try court.result(of: try put(nil)).get()
        guard case .stored(let objects) = answer else {
            Issue.record("not stored: \(answer)")
            return
        }
        #expect(
            objects == [
                WriteResult(
                    ObjectMetadata(
                        id: ObjectID(trusted: "n1"), created: 1_000, modified: 1_000, version: 1))
            ])
    }
}
