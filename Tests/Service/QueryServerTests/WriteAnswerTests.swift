import BackendContract
import JSONText
import Objects
import ServiceDesk
import Testing

/// What the answer to a write says, and the number of the change where nodes give one.
@Suite struct WriteAnswerTests {
    private static let bucket = BucketName(trusted: "shops")

    private static func stored(
        _ id: String, _ version: Int64, isWritten: Bool = true, document: String? = nil
    ) -> WriteResult {
        WriteResult(
            ObjectMetadata(
                id: ObjectID(trusted: id), created: 5, modified: 7, version: version,
                owner: "alice"),
            isWritten: isWritten, document: document.map { Array($0.utf8) })
    }

    private static let patch = Write.patch(
        bucket: bucket, id: ObjectID(trusted: "o1"), patch: [], ifVersion: nil, ifNewer: nil,
        expiry: .unchanged)
    private static let many = Write.putMany(bucket: bucket, objects: [])
    private static let deletion = Write.delete(
        bucket: bucket, id: ObjectID(trusted: "o1"), ifVersion: nil)

    static let answers: [(Write, WriteAnswer, String)] = [
        (
            patch, .stored([stored("o1", 3)]),
            #"{"_id":"o1","_created":5,"_modified":7,"_version":3}"#
        ),
        (
            patch, .stored([stored("o1", 3, isWritten: false)]),
            #"{"_id":"o1","_version":3,"written":false}"#
        ),
        (
            patch, .stored([stored("o1", 3, document: #"{"a":1.0}"#)]),
            #"{"_id":"o1","_created":5,"_modified":7,"_version":3,"object":{"_id":"o1","#
                + #""_created":5,"_modified":7,"_version":3,"_owner":"alice","a":1.0}}"#
        ),
        (
            many, .stored([stored("o1", 1), stored("o2", 9, isWritten: false)]),
            #"{"objects":[{"_id":"o1","_version":1},"#
                + #"{"_id":"o2","_version":9,"written":false}]}"#
        ),
        (many, .stored([]), #"{"objects":[]}"#), (deletion, .deleted(1), "{}"),
        (.deleteBucket(bucket), .deleted(0), #"{"deleted":0}"#),
        (.deleteWhere(bucket: bucket, clause: .all), .deleted(12), #"{"deleted":12}"#),
    ]

    private static func text(
        _ answer: WriteAnswer, to write: Write, change: ChangeNumber? = nil
    ) -> String {
        var writer = JSONWriter()
        writer.raw("before ")
        answer.write(for: write, change: change, into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test(arguments: answers)
    func `An answer has the members of its method`(
        _ write: Write, _ answer: WriteAnswer, _ expected: String
    ) {
        #expect(Self.text(answer, to: write) == "before " + expected)
    }

    @Test(arguments: answers)
    func `The change is one more member of it`(
        _ write: Write, _ answer: WriteAnswer, _ expected: String
    ) throws {
        for change in [0, 48_213, 9_007_199_254_740_993] as [ChangeNumber] {
            let text = Self.text(answer, to: write, change: change).dropFirst("before ".count)
            var members = try JSONValue(parsing: Array(expected.utf8)).members
            members.append(.init("change", .int(Int(change))))
            let found = try JSONValue(parsing: Array(text.utf8))
            #expect(found.members.map(\.name) == members.map(\.name), "\(text)")
            #expect(found.members.map(\.value) == members.map(\.value), "\(text)")
        }
    }
}
