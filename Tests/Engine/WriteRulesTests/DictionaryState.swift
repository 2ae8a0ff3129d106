import BackendContract
import JSONText
import Objects
import QueryLanguage
import TestSupport

/// A store that is a dictionary, and nothing else.
final class DictionaryState: TransactionState {
    struct Stored {
        let creation: ChangeNumber
        var change: ChangeNumber
        var metadata: ObjectMetadata
        var document: WrittenDocument
        var isDamaged = false

        var whole: [UInt8] { metadata.document(around: document.text) }
    }

    struct Damage: Error, Equatable { var creation: ChangeNumber }

    /// In the order of creation.
    var buckets: [BucketName: [Stored]] = [:]
    let requestList = RequestList()
    var requests: any RequestLedger { requestList }
    /// The number of the last change.
    private(set) var change: ChangeNumber = 0
    /// By which a clause finds no object that has expired.
    var now: Int64 = 0

    func find(_ id: ObjectID, in bucket: BucketName) -> FoundObject? {
        stored(id, in: bucket).map { stored in
            guard !stored.isDamaged else {
                return .damaged(
                    creation: stored.creation, failure: Damage(creation: stored.creation))
            }
            return .whole(
                PresentObject(
                    creation: stored.creation, change: stored.change, metadata: stored.metadata,
                    document: stored.whole))
        }
    }

    var objectCount: Int { buckets.values.reduce(0) { $0 + $1.count } }

    func stored(_ id: ObjectID, in bucket: BucketName) -> Stored? {
        buckets[bucket]?.first { $0.metadata.id == id }
    }

    func hasObject(_ id: ObjectID, in bucket: BucketName) -> Bool {
        stored(id, in: bucket) != nil
    }

    func hasBucket(_ bucket: BucketName) -> Bool { buckets[bucket] != nil }

    /// By the owner of the first object; a bucket that is empty has nobody's.
    func bucketCount(by owner: String) -> Int {
        buckets.values.count { $0.first?.metadata.owner == owner }
    }

    func usage(of scope: BucketScope) -> ScopeUsage {
        buckets.filter { $0.key.scope == scope }.values.reduce(ScopeUsage()) { sum, objects in
            sum
                + ScopeUsage(
                    objects: objects.count,
                    bytes: objects.reduce(0) { $0 + $1.document.text.count }, buckets: 1)
        }
    }

    func documentBytes(of present: PresentObject) -> Int {
        let all = buckets.values.joined()
        return all.first { $0.creation == present.creation }!.document.text.count
    }

    func objects(satisfying clause: Clause, in bucket: BucketName) throws -> [ChangeNumber] {
        try buckets[bucket, default: []].filter { stored in
            guard stored.metadata.expires.map({ $0 > now }) ?? true else { return false }
            return try JSONParser.reading(stored.whole) { clause.evaluate(on: $0) == .yes }
        }.map(\.creation)
    }

    func expired(
        at now: Int64, after last: ExpiredObject?, atMost count: Int
    ) -> [ExpiredObject] {
        let all = buckets.flatMap { bucket, objects in
            objects.filter { $0.metadata.expires.map { $0 <= now } ?? false }.map {
                ExpiredObject(
                    bucket: bucket, creation: $0.creation, time: $0.metadata.expires!)
            }
        }
        let rest = all.filter { object in
            last.map { ($0.time, $0.creation) < (object.time, object.creation) } ?? true
        }
        return Array(
            rest.sorted { ($0.time, $0.creation) < ($1.time, $1.creation) }.prefix(count))
    }

    func mayRemove(_ expired: ExpiredObject) -> Bool {
        buckets[expired.bucket]?.first { $0.creation == expired.creation }?.isDamaged == false
    }

    func hasGeoPoints(at field: FieldPath, in bucket: BucketName) -> Bool {
        geoFields(of: bucket).contains(field)
    }

    func geoFieldCount(of bucket: BucketName) -> Int { geoFields(of: bucket).count }

    private func geoFields(of bucket: BucketName) -> Set<FieldPath> {
        Set(buckets[bucket, default: []].flatMap { $0.document.points.map(\.field) })
    }

    func insert(_ metadata: ObjectMetadata, _ document: WrittenDocument, in bucket: BucketName) {
        precondition(!hasObject(metadata.id, in: bucket), "an id is given twice")
        change += 1
        buckets[bucket, default: []].append(
            Stored(creation: change, change: change, metadata: metadata, document: document))
    }

    func replace(
        _ present: PresentObject, with metadata: ObjectMetadata, _ document: WrittenDocument,
        in bucket: BucketName
    ) {
        change += 1
        let position = buckets[bucket]!.firstIndex { $0.creation == present.creation }!
        precondition(
            buckets[bucket]![position].change == present.change, "a stale object is replaced")
        buckets[bucket]![position].change = change
        buckets[bucket]![position].metadata = metadata
        buckets[bucket]![position].document = document
    }

    func delete(_ creations: [ChangeNumber], in bucket: BucketName, at now: Int64) {
        change += ChangeNumber(creations.count)
        buckets[bucket]?.removeAll { creations.contains($0.creation) }
    }

    func deleteBucket(_ bucket: BucketName, at now: Int64) -> Int {
        let objects = buckets.removeValue(forKey: bucket)!
        change += ChangeNumber(objects.count)
        return objects.count { $0.metadata.expires.map { $0 > now } ?? true }
    }
}

/// A ledger that is a list.
final class RequestList: RequestLedger {
    private(set) var requests: [(key: String, request: RememberedRequest)] = []

    func request(key: String) -> RememberedRequest? { requests.first { $0.key == key }?.request }

    func remember(_ request: RememberedRequest, key: String) {
        requests.removeAll { $0.key == key }
        requests.append((key, request))
    }

    func remembers(atLeast count: Int) -> Bool { requests.count >= count }

    func oldestRequestTime() -> Int64? { requests.first?.request.time }

    func deleteRequests(until time: Int64, atMost count: Int) {
        let kept = requests.prefix(count).filter { $0.request.time > time }
        requests = kept + requests.dropFirst(count)
    }
}
