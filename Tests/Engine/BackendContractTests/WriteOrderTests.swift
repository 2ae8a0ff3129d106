import BackendContract
import Objects
import Synchronization
import TestSupport
import Testing

/// What `Backend` says of when writes are answered.
@Suite struct WriteOrderTests {
    @Test(arguments: BackendKind.all)
    func `writes are answered in the order of their submission`(on kind: BackendKind) async throws {
        try await withTemporaryFolder { folder in
            try await withBackend(kind, path: folder + "/store.sqlite") { client in
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
                        client.backend.submit(write) { _ in
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
