import Foundation
import GeoBucketClient
import TestSupport
import Testing

/// A client outlives its service's restart.
@Suite struct ClientRestartTests {
    @Test func `A page walk goes on over a restart, each object comes exactly once`() async throws {
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            let (pages, before) = (20, 7)
            let walked = try await Program.serve(store: store, folder: folder) { process, port in
                let client = ServiceClient(ServiceAddress(host: "127.0.0.1", port: port))
                let bucket = client.bucket("walk")
                try await Self.fill(bucket, count: pages * 50)
                let query = BucketQuery(clause: .hasField("p", andType: .geoPoint))
                query.sort(byAsc: "n")
                query.limit = 50
                var walk = bucket.objects(matching: query).makeAsyncIterator()
                var ids: [String] = []
                for _ in 0..<before * 50 { ids.append(try await walk.next()!.uuid!) }
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
                return (walk: walk, ids: ids, client: client, port: port)
            }
            // The rest of the walk begins while nobody listens.
            let rest = Task {
                var walk = walked.walk
                var ids: [String] = []
                while let object = try await walk.next() { ids.append(object.uuid!) }
                return ids
            }
            let ids = try await Program.serve(store: store, folder: folder, port: walked.port) {
                _, _ in walked.ids + (try await rest.value)
            }
            #expect(ids.count == pages * 50)
            #expect(Set(ids) == Set((0..<pages * 50).map { "o-\($0)" }))
            await walked.client.close()
        }
    }

    /// Objects whose `n` repeat, so that pages end among equals.
    private static func fill(_ bucket: Bucket, count: Int) async throws {
        let documents: [JSONValue] = (0..<count).map { number in
            let place = JSONValue.point(Double(number % 90), Double(number % 180))
            let n = JSONValue.int(number * 7 % 100)
            return .object([.init("_id", .string("o-\(number)")), .init("n", n), .init("p", place)])
        }
        _ = try await bucket.putMany(documents)
    }
}
