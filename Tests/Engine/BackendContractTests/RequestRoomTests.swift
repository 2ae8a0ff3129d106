import BackendContract
import Objects
import TestSupport
import Testing

/// Writes with a request key, when as many are remembered as the limit says.
@Suite struct RequestRoomTests {
    private static let day: Int64 = 24 * 3_600_000

    @Test(arguments: BackendKind.all)
    func `the first write after a day finds room`(on kind: BackendKind) async throws {
        try await withTemporaryFolder { folder in
            let clock = TestClock()
            var limits = Limits()
            limits.requestKeys = 3
            try await withBackend(
                kind, path: folder + "/store.sqlite", limits: limits, clock: clock
            ) { client in
                func put(_ key: String) async -> String {
                    await withCheckedContinuation { continuation in
                        let object = PutObject(
                            id: ObjectID(trusted: "a"),
                            document: WrittenDocument(text: [123, 125], points: []))
                        client.backend.submit(
                            .put(
                                bucket: BucketName(trusted: "one"), object: object, condition: .none
                            ), key: RequestKey(text: key, request: Array(key.utf8)), by: "me"
                        ) { result in
                            switch result {
                            case .success: continuation.resume(returning: "done")
                            case .failure(let failure):
                                continuation.resume(returning: "\(failure.reason)")
                            }
                        }
                    }
                }
                var outcomes: [String] = []
                for key in ["1", "2", "3", "4", "3"] { outcomes.append(await put(key)) }
                #expect(outcomes == ["done", "done", "done", "tooManyRequests", "done"])
                clock.advance(Self.day)
                outcomes = []
                for key in ["5", "6", "7", "8"] { outcomes.append(await put(key)) }
                #expect(outcomes == ["done", "done", "done", "tooManyRequests"])
            }
        }
    }
}
