import BackendContract
import JSONText
import Objects
import Synchronization
import TestSupport
import Testing

/// Writes that wait together become one transaction: each has to see what those before it did, of
/// which nothing has been published yet.
@Suite struct GroupTests {
    private static let id = ObjectID(trusted: "a")

    @Test(arguments: BackendKind.all, [0, 256 * 1_048_576])
    func `writes of one transaction see each other`(on kind: BackendKind, cacheBytes: Int)
        async throws
    {
        try await withTemporaryFolder { folder in
            var limits = Limits()
            limits.documentCacheBytes = cacheBytes
            try await withBackend(kind, path: folder + "/store.sqlite", limits: limits) { client in
                let bucket = try BucketName("one")
                func put(_ text: String, _ condition: WriteCondition) -> Write {
                    let document = WrittenDocument(text: Array(text.utf8), points: [])
                    let object = PutObject(
                        id: Self.id, document: document, owner: "o\"w", dataType: "d\\t")
                    return .put(bucket: bucket, object: object, condition: condition)
                }
                _ = await client.backend.outcomes(of: [put(#"{"n":1}"#, .none)])
                let commits = client.backend.statistics().commits
                // What keeps the writer busy while the others gather.
                let others = (0..<2_000).map { number in
                    PutObject(
                        id: ObjectID(trusted: "\(number)"),
                        document: WrittenDocument(text: [123, 125], points: []))
                }
                let writes: [Write] = [
                    .putMany(bucket: try BucketName("other"), objects: others),
                    put(#"{"n":2}"#, .version(1)),
                    .patch(
                        bucket: bucket, id: Self.id, patch: Array(#"{"m":3}"#.utf8), ifVersion: 2,
                        ifNewer: nil, expiry: .unchanged),
                    put(#"{"n":4}"#, .version(2)),
                    .delete(bucket: bucket, id: Self.id, ifVersion: 3),
                    put(#"{"n":5}"#, .version(3)),
                    put(#"{"n":6}"#, .absent),
                    put(#"{"n":7}"#, .none),
                    put(#"{"n":8}"#, .absent),
                    .patch(
                        bucket: bucket, id: Self.id, patch: Array(#"{"m":9}"#.utf8), ifVersion: nil,
                        ifNewer: nil, expiry: .unchanged),
                ]
                let answers = await client.backend.outcomes(of: writes)
                #expect(
                    answers.dropFirst() == [
                        "[2]", "[3]", "versionIsStale", "deleted 1", "objectNotFound", "[1]", "[2]",
                        "alreadyExists", "[3]",
                    ])
                #expect(client.backend.statistics().commits < commits + writes.count)
                var writer = JSONWriter()
                try client.backend.get(Self.id, in: bucket, into: &writer)
                let text = String(decoding: writer.bytes, as: UTF8.self)
                #expect(text.hasSuffix(#""_owner":"o\"w","_dataType":"d\\t","n":7,"m":9}"#))
            }
        }
    }
}

extension Backend {
    /// The versions that each of some writes, submitted together, left, how many it deleted, or why it
    /// was refused.
    ///
    /// A write that searches is submitted when those before it are answered, and those behind it when
    /// it is, as a connection does.
    func outcomes(of writes: [Write]) async -> [String] {
        var outcomes: [String] = []
        for group in writes.split(where: \.searches) {
            outcomes += await self.outcomes(together: group)
        }
        return outcomes
    }

    private func outcomes(together writes: [Write]) async -> [String] {
        let outcomes = Mutex<[String]>([])
        await withCheckedContinuation { continuation in
            for write in writes {
                submit(write) { result in
                    let text =
                        switch result {
                        case .success(.stored(let objects)): "\(objects.map(\.metadata.version))"
                        case .success(.deleted(let count)): "deleted \(count)"
                        case .failure(let failure): "\(failure.reason)"
                        }
                    let count = outcomes.withLock {
                        $0.append(text)
                        return $0.count
                    }
                    if count == writes.count { continuation.resume() }
                }
            }
        }
        return outcomes.withLock { $0 }
    }
}

extension [Write] {
    /// The elements in their order: those that stand alone, and the others with their neighbours.
    fileprivate func split(where standsAlone: (Write) -> Bool) -> [[Write]] {
        reduce(into: []) { groups, write in
            if let last = groups.last?.last, !standsAlone(last), !standsAlone(write) {
                groups[groups.count - 1].append(write)
            } else {
                groups.append([write])
            }
        }
    }
}
