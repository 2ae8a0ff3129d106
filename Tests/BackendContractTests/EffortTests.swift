import Backend
import JSONText
import Objects
import QueryLanguage
import Synchronization
import TestSupport
import Testing

/// What `Backend` says of its callers' threads: when reads end, and when writes are answered.
@Suite struct EffortTests {
    @Test func `a read that is told to stop ends with a failure, others do not`() async throws {
        try await withTemporaryFolder { folder in
            try await withBackend(path: folder + "/store.sqlite") { face in
                let objects = (0..<500).map { #"{"_id":"o\#($0)","n":\#($0)}"# }
                try await face.value(
                    "object.putMany",
                    #"{"bucket":"many","objects":[\#(objects.joined(separator: ","))]}"#)
                let bucket = try BucketName("many")
                let clause = Clause.eq(FieldPath("n"), .number(.integer(499)))
                let request = PageRequest(bucket: bucket, query: Query(clause: clause))
                let signal = StopSignal()
                var writer = JSONWriter()
                let page = try face.backend.query(request, effort: .until(signal), into: &writer)
                #expect(page?.objects == 1)
                #expect(try face.backend.count(clause, in: bucket, effort: .until(signal)) == 1)
                signal.stop()
                let expected = ServiceFailure(.temporarilyUnavailable, "the query was stopped")
                #expect(throws: expected) {
                    var writer = JSONWriter()
                    _ = try face.backend.query(request, effort: .until(signal), into: &writer)
                }
                #expect(throws: expected) {
                    _ = try face.backend.count(clause, in: bucket, effort: .until(signal))
                }
            }
        }
    }

    @Test func `writes are answered in the order of their submission`() async throws {
        try await withTemporaryFolder { folder in
            try await withBackend(path: folder + "/store.sqlite") { face in
                let answered = Mutex<[Int]>([])
                let bucket = try BucketName("many")
                await withCheckedContinuation { continuation in
                    for number in 0..<400 {
                        // Refusals take their turn too.
                        let write: Write =
                            number % 3 == 0
                            ? .delete(bucket: bucket, id: ObjectID(trusted: "none"), ifVersion: nil)
                            : .put(
                                bucket: bucket,
                                object: PutObject(
                                    id: nil,
                                    document: WrittenDocument(text: [123, 125], points: [])
                                ),
                                condition: .none)
                        face.backend.submit(write) { _ in
                            let count = answered.withLock {
                                $0.append(number)
                                return $0.count
                            }
                            if count == 400 { continuation.resume() }
                        }
                    }
                }
                #expect(answered.withLock { $0 } == Array(0..<400))
            }
        }
    }
}
