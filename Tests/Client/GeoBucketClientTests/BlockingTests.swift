import GeoBucketClient
import KiiCompatibility
import Testing

/// The forms of Kii's calls that block.
@Suite struct BlockingTests {
    @Test func `The blocking forms can wait on every thread of the runtime at once`() async throws {
        try await FakeService({ _, _ in .result(#"{"count":7}"#) }).serve { _, port in
            let address = ServiceAddress(host: "127.0.0.1", port: port)
            try await GeoBucketClient.with(address) { client in
                let bucket = client.bucket("some")
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<100 { group.addTask { try Self.count(bucket) } }
                    for try await count in group { #expect(count == 7) }
                }
            }
        }
    }

    private static func count(_ bucket: Bucket) throws -> Int {
        try bucket.countObjectsSynchronous()
    }
}
