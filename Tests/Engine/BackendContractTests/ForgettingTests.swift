import BackendContract
import EmbeddedBackend
import InMemoryEngine
import Objects
import TestSupport
import Testing

/// What is kept for a time or as long as something needs it is forgotten afterwards.
@Suite struct ForgettingTests {
    private static let bucket = BucketName(trusted: "one")

    /// A store whose deletions and requests have these times, in this order.
    private func withStore(
        times: [Int64], _ body: (SQLiteStore) throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let store = try SQLiteStore(path: folder + "/store.sqlite")
            var changes = StoreChanges(after: 0)
            changes.tombstones = times.enumerated().map { number, time in
                StoreChanges.Tombstone(
                    change: ChangeNumber(number + 1), creation: 1, bucket: Self.bucket,
                    id: ObjectID(trusted: "a\(number)"), deleted: time)
            }
            let requests = times.enumerated().map { number, time in
                (
                    key: "k\(number)",
                    request: RememberedRequest(time: time, digest: [1], answer: [2])
                )
            }
            try store.write { transaction in
                try transaction.add(.changes(changes))
                try transaction.add(.requests(requests))
            }
            try body(store)
            try store.close()
        }
    }

    /// The numbers of deletions and of requests that are forgotten.
    private func forget(
        _ store: SQLiteStore, before time: Int64, now: Int64, atMost count: Int = 1_000
    ) throws -> [Int] {
        try store.write {
            [
                try $0.deleteTombstones(before: time, now: now, atMost: count),
                try $0.deleteRequests(until: time - 1, now: now, atMost: count),
            ]
        }
    }

    @Test func `rows of a clock that was ahead keep no later one`() async throws {
        try await withStore(times: [9_000, 9_000, 9_000, 100, 150, 9_000, 400]) { store in
            #expect(try forget(store, before: 100, now: 500) == [0, 0])
            #expect(try forget(store, before: 200, now: 500) == [5, 5])
            #expect(try forget(store, before: 200, now: 500) == [0, 0])
            #expect(try forget(store, before: 500, now: 600) == [2, 2])
            let rest = try store.deletions(in: Self.bucket, after: 6, atMost: 10)
            #expect(rest == nil, "the deletions up to the seventh are known to be forgotten")
        }
    }

    @Test func `rows of a clock that was ahead are forgotten when they are old by their order`()
        async throws
    {
        try await withStore(times: Array(repeating: 9_000, count: 10) + [350]) { store in
            // The first look notes the time. Until it is old, nothing is known to be.
            #expect(try forget(store, before: 200, now: 300, atMost: 4) == [0, 0])
            #expect(try forget(store, before: 300, now: 400, atMost: 4) == [0, 0])
            var forgotten: [[Int]] = []
            for _ in 0..<4 { forgotten.append(try forget(store, before: 301, now: 401, atMost: 4)) }
            #expect(forgotten == [[4, 4], [4, 4], [2, 2], [0, 0]])
            #expect(try forget(store, before: 351, now: 451, atMost: 4) == [1, 1])
        }
    }

    @Test func `a mark of a clock that was ahead is made again`() async throws {
        try await withStore(times: Array(repeating: 9_000, count: 3)) { store in
            let forgotten = [
                try forget(store, before: 7_900, now: 8_000),
                try forget(store, before: 100, now: 200), try forget(store, before: 201, now: 301),
            ]
            #expect(forgotten == [[0, 0], [0, 0], [3, 3]])
        }
    }

    @Test func `requests whose numbers are used again are kept`() async throws {
        try await withStore(times: [9_000, 9_000]) { store in
            #expect(try forget(store, before: 100, now: 200) == [0, 0])
            #expect(try forget(store, before: 201, now: 301) == [2, 2])
            try store.write {
                let request = RememberedRequest(time: 302, digest: [1], answer: [2])
                try $0.remember(request, key: "new")
            }
            #expect(try forget(store, before: 202, now: 302) == [0, 0])
        }
    }

    @Test func `field paths that no object uses are forgotten while the store is served`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            func fields() throws -> [String] {
                try FrozenStore(path: path).scan { $0.fields.map(\.text).sorted() }
            }
            var tuning = Engine.Tuning.untimed
            tuning.housekeeping = .milliseconds(2)
            try await withBackend(.embedded, path: path, tuning: tuning) { client in
                func put(_ id: String, _ fields: some Sequence<String>) async throws {
                    let members = fields.map { "\"\($0)\":\(Self.point)" }.joined(separator: ",")
                    try await client.value(
                        "object.put", #"{"bucket":"one","id":"\#(id)","object":{\#(members)}}"#)
                }
                try await put("kept", ["b-kept"])
                for round in 0..<20 {
                    try await put("changing", (0..<40).map { "a\(round)-\($0)" })
                }
                let last = (0..<40).map { "a19-\($0)" }
                #expect(try await waited { try fields().count == 41 })
                #expect(try fields() == (last + ["b-kept"]).sorted())
                // Forgotten paths come back, beside others that go.
                for round in 0..<60 {
                    try await put("changing", ["a\(round % 7)-1", "a\(round % 3)-2"])
                }
                try await client.value("bucket.delete", #"{"bucket":"one"}"#)
                try await put("new", ["a0-1"])
                #expect(try await waited { try fields() == ["a0-1"] })
                #expect(try client.backend.check(until: nil).problems == [])
            }
            #expect(try BackendKind.embedded.check(path).problems == [])
        }
    }

    private static let point = #"{"_type":"point","lat":1,"lon":2}"#
}
