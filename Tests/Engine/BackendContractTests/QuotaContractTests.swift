import BackendContract
import InMemoryEngine
import JSONText
import Objects
import TestSupport
import Testing

/// What scopes hold is counted with every write, and is right after whatever has happened.
@Suite struct QuotaContractTests {
    /// A deletion of five objects is large, and leaves its rows for later.
    private static var tuning: Engine.Tuning {
        var tuning = Engine.Tuning.eager
        (tuning.deletedAtOnce, tuning.deletedInPlace) = (4, 4)
        return tuning
    }

    private static func limits(_ quota: Quota) -> Limits {
        let limits = Limits()
        limits.quotas.replace(rules: ["users": quota])
        return limits
    }

    private static let refused = Refusal(errorCode: "QUOTA_EXCEEDED", path: "bucket")

    private static func put(
        _ bucket: String, _ id: String, _ object: String = "{}"
    ) -> (String, String) {
        ("object.put", #"{"bucket":"\#(bucket)","id":"\#(id)","object":\#(object)}"#)
    }

    @Test(arguments: BackendKind.all)
    func `a quota of objects holds after restarts, deletions of every kind and expiry`(
        on kind: BackendKind
    ) async throws {
        try await withTemporaryFolder { folder in
            let (path, clock) = (folder + "/store.sqlite", TestClock(1_000))
            let limits = Self.limits(Quota(objects: 10))
            func life(_ body: (DirectClient) async throws -> Void) async throws {
                try await withBackend(
                    kind, path: path, limits: limits, clock: clock, tuning: Self.tuning, body)
            }
            /// Fills the scope to its brim, and tells how many objects that took.
            func fill(_ client: DirectClient, _ name: String) async throws -> Int {
                for number in 0..<20 {
                    let (method, params) = Self.put("users/alice/\(name)", "\(name)\(number)")
                    if let refusal = try await client.refusal(method, params) {
                        #expect(refusal == Self.refused)
                        return number
                    }
                }
                return 20
            }
            try await life { client in
                #expect(try await fill(client, "aa") == 10)
                // Others and the application's own scope have room, and what is there may change.
                for (method, params) in [
                    Self.put("users/bob/aa", "o1"), Self.put("shops", "o1"),
                    Self.put("users/alice/aa", "aa3", #"{"a":1}"#),
                ] {
                    try await client.value(method, params)
                }
            }
            try await life { client in
                #expect(try await fill(client, "bb") == 0)
                _ = try await client.value(
                    "object.delete", #"{"bucket":"users/alice/aa","id":"aa0"}"#)
                #expect(try await fill(client, "bb") == 1)
                // A large deletion counts at once.
                let all = #"{"bucket":"users/alice/aa","bucketQuery":{}}"#
                #expect(try await client.value("bucket.deleteWhere", all)["deleted"]?.int == 9)
                #expect(try await fill(client, "cc") == 9)
                let bucket = #"{"bucket":"users/alice/cc"}"#
                #expect(try await client.value("bucket.delete", bucket)["deleted"]?.int == 9)
            }
            try await life { client in
                #expect(try await fill(client, "dd") == 9)
                _ = try await client.value("bucket.delete", #"{"bucket":"users/alice/dd"}"#)
                for number in 0..<3 {
                    try await Self.putFading("ee\(number)", until: 5_000, on: client)
                }
                #expect(try await fill(client, "ff") == 6)
                clock.advance(10_000)
                // A write that finds an expired object removes it.
                for number in 0..<3 {
                    _ = try await client.refusal(
                        "object.delete", #"{"bucket":"users/alice/ee","id":"ee\#(number)"}"#)
                }
                #expect(try await fill(client, "gg") == 3)
            }
            #expect(try kind.check(path).problems == [])
        }
    }

    private static func putFading(
        _ id: String, until time: Int64, on client: DirectClient
    ) async throws {
        let document = try JSONParser.reading(Array("{}".utf8)) {
            try WrittenDocument($0, at: "object", limits: Limits())
        }
        let write = Write.put(
            bucket: BucketName(trusted: "users/alice/ee"),
            object: PutObject(id: ObjectID(trusted: id), document: document, expires: time),
            condition: .none)
        _ = try await withCheckedThrowingContinuation { continuation in
            client.backend.submit(write) { continuation.resume(with: $0) }
        }
    }

    @Test(arguments: BackendKind.all, Seeds.first(4))
    func `whatever is written, the counts are those of the rows`(
        on kind: BackendKind, seed: UInt64
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            var random = SplitMix64(seed: seed)
            let limits = Self.limits(Quota(objects: 60, bytes: 1_500, buckets: 3))
            for _ in 0..<3 {
                try await withBackend(kind, path: path, limits: limits, tuning: Self.tuning) {
                    client in
                    for _ in 0..<120 {
                        let (method, params) = Self.write(&random)
                        if let refusal = try await client.refusal(method, params) {
                            let known = ["QUOTA_EXCEEDED", "OBJECT_NOT_FOUND", "BUCKET_NOT_FOUND"]
                            #expect(known.contains(refusal.errorCode), "seed \(seed): \(refusal)")
                        }
                    }
                }
                #expect(try kind.check(path).problems == [], "seed \(seed)")
            }
            #expect(limits.quotas.refused > 0, "seed \(seed): nothing was refused")
            #expect(limits.quotas.nearest(atMost: 10).allSatisfy { $0.part <= 1 }, "seed \(seed)")
        }
    }

    private static func write(_ random: inout SplitMix64) -> (method: String, params: String) {
        let bucket =
            random.pick(["users/alice/", "users/bob/", "things/t1/", ""])
            + random.pick(["aa", "bb", "cc", "dd"])
        let id = "o\(random.below(30))"
        let object = #"{"a":"\#(String(repeating: "ü", count: random.below(20)))"}"#
        switch random.below(20) {
        case 0: return ("bucket.delete", #"{"bucket":"\#(bucket)"}"#)
        case 1: return ("bucket.deleteWhere", #"{"bucket":"\#(bucket)","bucketQuery":{}}"#)
        case 2, 3, 4: return ("object.delete", #"{"bucket":"\#(bucket)","id":"\#(id)"}"#)
        case 5, 6, 7:
            return ("object.patch", #"{"bucket":"\#(bucket)","id":"\#(id)","object":\#(object)}"#)
        case 8, 9:
            let objects = (0..<random.below(8)).map {
                #"{"_id":"o\#($0 * 3)","b":\#($0)}"#
            }.joined(separator: ",")
            return ("object.putMany", #"{"bucket":"\#(bucket)","objects":[\#(objects)]}"#)
        default: return put(bucket, id, object)
        }
    }
}
