import BackendContract
import JSONText
import Objects
import QueryLanguage
import TestSupport
import Testing

/// Histories of writes that become few transactions, against a dictionary that does one write after
/// the other.
@Suite struct GroupHistoryTests {
    @Test(arguments: BackendKind.all, ContractSeeds.all)
    func `writes submitted together answer and leave what they would one by one`(
        on kind: BackendKind,
        seed: UInt64
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            var limits = Limits()
            if seed % 2 == 0 { limits.documentCacheBytes = 0 }
            var random = SplitMix64(seed: seed)
            var model = Model()
            try await withBackend(kind, path: path, limits: limits) { client in
                for _ in 0..<20 {
                    let writes = (0..<60).map { _ in Self.write(&random) }
                    let expected = writes.map { model.answer(to: $0) }
                    let answers = await client.backend.outcomes(of: writes)
                    #expect(answers == expected, "seed \(seed)")
                    let left = try Self.contents(of: client.backend)
                    #expect(left == model.contents, "seed \(seed)")
                }
                #expect(client.backend.statistics().commits < 20 * 60, "no two made a group")
                let report = try client.backend.check(until: nil)
                #expect(report.problems == [], "seed \(seed)")
            }
            try await withBackend(kind, path: path) { client in
                let left = try Self.contents(of: client.backend)
                #expect(left == model.contents, "seed \(seed)")
            }
            #expect(try kind.check(path).problems == [], "seed \(seed)")
        }
    }

    private static let buckets = ["b0", "b1", "b2"]
    private static let ids = (0..<5).map { "id\($0)" }

    private static func write(_ random: inout SplitMix64) -> Write {
        let bucket = BucketName(trusted: buckets[random.below(buckets.count)])
        func object(_ random: inout SplitMix64) -> PutObject {
            let text = "{\"n\":\(random.below(1_000))}"
            return PutObject(
                id: ObjectID(trusted: ids[random.below(ids.count)]),
                document: WrittenDocument(text: Array(text.utf8), points: []))
        }
        let id = ObjectID(trusted: ids[random.below(ids.count)])
        let version = random.below(2) == 0 ? nil : Int64(1 + random.below(3))
        switch random.below(20) {
        case 0: return .deleteBucket(bucket)
        case 1: return .deleteWhere(bucket: bucket, clause: .all)
        case 2..<6: return .delete(bucket: bucket, id: id, ifVersion: version)
        case 6..<9:
            return .patch(
                bucket: bucket, id: id, patch: Array("{\"m\":\(random.below(9))}".utf8),
                ifVersion: version, ifNewer: nil, expiry: .unchanged)
        case 9..<12:
            let objects = (0..<random.below(6)).map { _ in object(&random) }
            return .putMany(bucket: bucket, objects: objects)
        default:
            let condition: WriteCondition =
                version.map { .version($0) } ?? (random.below(2) == 0 ? .absent : .none)
            return .put(bucket: bucket, object: object(&random), condition: condition)
        }
    }

    /// What each write should answer, and what it leaves: by bucket and id the version and members.
    private struct Model {
        private struct Object {
            var version: Int64 = 0
            var n: Substring = ""
            var m: Substring?
        }

        private var buckets: [String: [String: Object]] = [:]

        var contents: [String] {
            buckets.flatMap { bucket, objects in
                objects.map { id, object in
                    let m = object.m.map { ",\"m\":\($0)" } ?? ""
                    return "\(bucket)/\(id) \(object.version) \"n\":\(object.n)\(m)}"
                }
            }.sorted()
        }

        mutating func answer(to write: Write) -> String {
            let bucket = write.bucket.text
            switch write {
            case .put(_, let object, let condition):
                let present = buckets[bucket]?[object.id!.text]
                switch condition {
                case .none: break
                case .absent: if present != nil { return "alreadyExists" }
                case .version(let version):
                    guard let present else { return "objectNotFound" }
                    if present.version != version { return "versionIsStale" }
                }
                return "[\(put(object, in: bucket))]"
            case .putMany(_, let objects):
                return "\(objects.map { put($0, in: bucket) })"
            case .patch(_, let id, let patch, let version, _, _, _):
                guard var object = buckets[bucket]?[id.text] else { return "objectNotFound" }
                if let version, version != object.version { return "versionIsStale" }
                object.version += 1
                object.m = Self.value(patch)
                buckets[bucket]![id.text] = object
                return "[\(object.version)]"
            case .delete(_, let id, let version):
                guard let object = buckets[bucket]?[id.text] else { return "objectNotFound" }
                if let version, version != object.version { return "versionIsStale" }
                buckets[bucket]![id.text] = nil
                return "deleted 1"
            case .deleteBucket:
                guard let objects = buckets.removeValue(forKey: bucket) else {
                    return "bucketNotFound"
                }
                return "deleted \(objects.count)"
            case .deleteWhere:
                defer { if buckets[bucket] != nil { buckets[bucket] = [:] } }
                return "deleted \(buckets[bucket]?.count ?? 0)"
            }
        }

        private mutating func put(_ object: PutObject, in bucket: String) -> Int64 {
            let version = (buckets[bucket]?[object.id!.text]?.version ?? 0) + 1
            buckets[bucket, default: [:]][object.id!.text] = Object(
                version: version, n: Self.value(object.document.text))
            return version
        }

        /// The value of the only member of an object.
        private static func value(_ text: [UInt8]) -> Substring {
            String(decoding: text, as: UTF8.self).dropLast().split(separator: ":")[1]
        }
    }

    private static func contents(of backend: any Backend) throws -> [String] {
        try buckets.flatMap { bucket in
            try ids.compactMap { id in
                var writer = JSONWriter()
                do {
                    try backend.get(
                        ObjectID(trusted: id), in: BucketName(trusted: bucket), into: &writer)
                } catch let failure as ServiceFailure where failure.reason == .objectNotFound {
                    return nil
                }
                let version = try JSONParser.reading(writer.bytes) { $0["_version"]!.number! }
                let text = String(decoding: writer.bytes, as: UTF8.self)
                let members = text[text.range(of: "\"n\":")!.lowerBound...]
                return "\(bucket)/\(id) \(version.exactInt!) \(members)"
            }
        }.sorted()
    }
}
