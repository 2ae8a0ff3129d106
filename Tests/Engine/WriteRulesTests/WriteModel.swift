import BackendContract
import JSONText
import Objects
import QueryLanguage
import TestSupport

/// What a write is answered with: for each object id, times and version; a number; or why and where
/// it is refused.
enum ModelOutcome: Equatable {
    case stored([String])
    case deleted(Int)
    case refused(String)

    /// The same for every field and every place.
    var kind: String {
        switch self {
        case .stored(let objects): objects.contains { $0.hasSuffix("kept") } ? "kept" : "stored"
        case .deleted: "deleted"
        case .refused(let reason): reason.filter { !$0.isNumber }
        }
    }
}

/// Buckets as lists of JSON values, and what every write has to answer and leave.
struct WriteModel {
    private struct Object {
        let creation: Int
        var metadata: ObjectMetadata
        var document: JSONValue

        func isThere(at now: Int64) -> Bool { metadata.expires.map { $0 > now } ?? true }
    }

    private struct Request {
        let key: RequestKey
        let time: Int64
        let outcome: ModelOutcome
    }

    private struct Refusal: Error { var reason: String }

    private let limits: Limits
    private var buckets: [String: [Object]] = [:]
    private var creations = 0
    private var requests: [Request] = []
    /// Writes that were not done again.
    private(set) var repeats = 0

    private static let day: Int64 = 86_400_000

    init(limits: Limits) { self.limits = limits }

    /// The buckets, and what is there in them.
    func contents(at now: Int64) -> [String] {
        buckets.flatMap { bucket, objects in
            [bucket]
                + objects.filter { $0.isThere(at: now) }.map {
                    Self.describe(
                        $0.metadata, Array($0.document.text.utf8), in: BucketName(trusted: bucket))
                }
        }.sorted()
    }

    static func describe(
        _ object: ObjectMetadata, _ document: [UInt8], in bucket: BucketName
    ) -> String {
        "\(bucket.text)/\(String(decoding: object.document(around: document), as: UTF8.self))"
    }

    mutating func removeExpired(atMost count: Int, at now: Int64) -> Int {
        let gone = buckets.values.joined().filter { !$0.isThere(at: now) }
            .sorted { ($0.metadata.expires!, $0.creation) < ($1.metadata.expires!, $1.creation) }
            .prefix(count).map(\.creation)
        for bucket in buckets.keys {
            buckets[bucket]!.removeAll { gone.contains($0.creation) }
        }
        return gone.count
    }

    mutating func outcome(of step: WriteHistory.Step) -> ModelOutcome {
        guard let key = step.key else { return perform(step) }
        if let first = requests.first(where: { $0.key.text == key.text }),
            first.time > step.now - Self.day
        {
            guard first.key == key else { return .refused("INVALID_INPUT_DATA requestKey") }
            repeats += 1
            return first.outcome
        }
        requests.removeAll { $0.time <= step.now - Self.day }
        guard requests.count < limits.requestKeys else {
            return .refused("TOO_MANY_REQUESTS requestKey")
        }
        let outcome = perform(step)
        if case .refused = outcome { return outcome }
        requests.append(Request(key: key, time: step.now, outcome: outcome))
        return outcome
    }

    private mutating func perform(_ step: WriteHistory.Step) -> ModelOutcome {
        do throws(Refusal) {
            return try answer(to: step.write, at: step.now, step.newIDs)
        } catch {
            return .refused(error.reason)
        }
    }

    private mutating func answer(
        to write: Write, at now: Int64, _ newIDs: WriteHistory.IDSource
    ) throws(Refusal) -> ModelOutcome {
        let bucket = write.bucket.text
        switch write {
        case .put(_, let object, let condition):
            let present = object.id.flatMap { find($0, in: bucket, at: now) }
            switch condition {
            case .none: break
            case .absent:
                if present != nil { throw Refusal(reason: "OBJECT_ALREADY_EXISTS id") }
            case .version(let version): _ = try position(present, isVersion: version, in: bucket)
            }
            if let kept = kept(object, in: bucket, at: now) { return .stored([kept]) }
            try checkGeoFields([Self.value(object.document.text)], in: bucket) { _ in "object" }
            return .stored([put(object, in: bucket, at: now, newIDs)])
        case .putMany(_, let objects):
            let documents = objects.map {
                kept($0, in: bucket, at: now) == nil ? Self.value($0.document.text) : .object([])
            }
            try checkGeoFields(documents, in: bucket) { "objects[\($0)]" }
            return .stored(
                objects.map {
                    kept($0, in: bucket, at: now) ?? put($0, in: bucket, at: now, newIDs)
                })
        case .patch(_, let id, let patch, let version, let ifNewer, let expiry, let options):
            let found = find(id, in: bucket, at: now)
            let position = try position(found, isVersion: version, in: bucket)
            let present = buckets[bucket]![position]
            let document = Self.merge(
                Self.value(patch), into: present.document,
                removing: !options.contains(.storesNulls))
            try check(document)
            if let ifNewer, !Self.isGreater(ifNewer, document, present.document) {
                return .stored([Self.answer(present.metadata) + " kept"])
            }
            try checkGeoFields([document], in: bucket) { _ in "object" }
            let expires: Int64? =
                switch expiry {
                case .unchanged: present.metadata.expires
                case .never: nil
                case .at(let time): time
                }
            return .stored([replace(position, in: bucket, document, expires: expires, at: now)])
        case .delete(_, let id, let version):
            let found = find(id, in: bucket, at: now)
            let position = try position(found, isVersion: version, in: bucket)
            buckets[bucket]!.remove(at: position)
            return .deleted(1)
        case .deleteBucket:
            guard let objects = buckets.removeValue(forKey: bucket) else {
                throw Refusal(reason: "BUCKET_NOT_FOUND bucket")
            }
            return .deleted(objects.count { $0.isThere(at: now) })
        case .deleteWhere(_, let clause):
            let all = buckets[bucket] ?? []
            let left = all.filter { !$0.isThere(at: now) || !Self.satisfies($0.document, clause) }
            if !all.isEmpty { buckets[bucket] = left }
            return .deleted(all.count - left.count)
        }
    }

    // MARK: What is there

    /// The place of an object; one that has expired goes.
    private mutating func find(_ id: ObjectID, in bucket: String, at now: Int64) -> Int? {
        guard let position = buckets[bucket]?.firstIndex(where: { $0.metadata.id == id }) else {
            return nil
        }
        if buckets[bucket]![position].isThere(at: now) { return position }
        buckets[bucket]!.remove(at: position)
        return nil
    }

    private func position(
        _ found: Int?, isVersion version: Int64?, in bucket: String
    ) throws(Refusal) -> Int {
        guard let found else { throw Refusal(reason: "OBJECT_NOT_FOUND") }
        guard version == nil || buckets[bucket]![found].metadata.version == version else {
            throw Refusal(reason: "OBJECT_VERSION_IS_STALE ifVersion")
        }
        return found
    }

    private static func satisfies(_ document: JSONValue, _ clause: Clause) -> Bool {
        guard case .eq(_, .number(.integer(let number))) = clause else { return true }
        return document["a"]?.int == Int(number)
    }

    /// How a document that a patch has made is at fault.
    private func check(_ document: JSONValue) throws(Refusal) {
        for member in document.members where member.value.hasMalformedPoint {
            throw Refusal(reason: "INVALID_INPUT_DATA object.\(member.name).lat")
        }
        if document.text.utf8.count > limits.objectBytes {
            throw Refusal(reason: "OBJECT_TOO_LARGE object")
        }
    }

    private func checkGeoFields(
        _ documents: [JSONValue], in bucket: String, at path: (Int) -> String
    ) throws(Refusal) {
        var fields = Set((buckets[bucket] ?? []).flatMap { Self.geoFields(of: $0.document) })
        for (number, document) in documents.enumerated() {
            for field in Self.geoFields(of: document) {
                fields.insert(field)
                if fields.count > limits.geoFields {
                    throw Refusal(reason: "INVALID_INPUT_DATA \(path(number)).\(field)")
                }
            }
        }
    }

    private static func geoFields(of document: JSONValue) -> [String] {
        document.members.filter { $0.value["_type"] != nil }.map(\.name)
    }

    // MARK: What is done

    /// What a put leaves as it is, for its `ifNewer`.
    private mutating func kept(
        _ object: PutObject, in bucket: String, at now: Int64
    ) -> String? {
        guard let field = object.ifNewer, let id = object.id,
            let position = find(id, in: bucket, at: now)
        else { return nil }
        let present = buckets[bucket]![position]
        let document = Self.value(object.document.text)
        if Self.isGreater(field, document, present.document) { return nil }
        return Self.answer(present.metadata) + " kept"
    }

    /// Of numbers alone, and of what is missing.
    private static func isGreater(
        _ field: FieldPath, _ new: JSONValue, _ old: JSONValue
    ) -> Bool {
        guard let new = new[field.text]?.int else { return false }
        return old[field.text]?.int.map { $0 < new } ?? true
    }

    private mutating func put(
        _ object: PutObject, in bucket: String, at now: Int64, _ newIDs: WriteHistory.IDSource
    ) -> String {
        let document = Self.value(object.document.text)
        if let id = object.id, let position = find(id, in: bucket, at: now) {
            return replace(position, in: bucket, document, expires: object.expires, at: now)
        }
        var id = object.id ?? newIDs.next()
        while (buckets[bucket] ?? []).contains(where: { $0.metadata.id == id }) {
            id = newIDs.next()
        }
        creations += 1
        let metadata = ObjectMetadata(
            id: id, created: now, modified: now, version: 1, owner: object.owner,
            dataType: object.dataType, expires: object.expires)
        buckets[bucket, default: []].append(
            Object(creation: creations, metadata: metadata, document: document))
        return Self.answer(metadata)
    }

    private mutating func replace(
        _ position: Int, in bucket: String, _ document: JSONValue, expires: Int64?, at now: Int64
    ) -> String {
        var object = buckets[bucket]![position]
        object.document = document
        object.metadata.version += 1
        if now > object.metadata.modified { object.metadata.modified = now }
        object.metadata.expires = expires
        buckets[bucket]![position] = object
        return Self.answer(object.metadata)
    }

    static func answer(_ object: ObjectMetadata) -> String {
        "\(object.id.text) \(object.created) \(object.modified) \(object.version)"
    }

    private static func value(_ text: [UInt8]) -> JSONValue {
        guard let value = try? JSONValue(parsing: text) else {
            preconditionFailure("not JSON: \(String(decoding: text, as: UTF8.self))")
        }
        return value
    }

    /// RFC 7396 with members in their places, new ones at the end.
    ///
    /// - Parameter removing: whether null removes.
    private static func merge(
        _ patch: JSONValue, into target: JSONValue?, removing: Bool
    ) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var members = target?.members ?? []
        for change in changes {
            let position = members.firstIndex { $0.name == change.name }
            if change.value == .null, removing {
                if let position { members.remove(at: position) }
            } else if let position {
                members[position].value = merge(
                    change.value, into: members[position].value, removing: removing)
            } else {
                members.append(
                    .init(change.name, merge(change.value, into: nil, removing: removing)))
            }
        }
        return .object(members)
    }
}
