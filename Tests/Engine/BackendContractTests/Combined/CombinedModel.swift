import JSONText
import Objects
import TestSupport

/// One state of one object, as the model keeps it.
final class ModelObject: Sendable {
    let id: String
    /// The client's own members.
    let document: JSONValue
    let version: Int
    let created: Int
    let modified: Int
    let expires: Int?
    /// Its place in the order of creation.
    let number: Int
    /// The object as clients read it, and the text of it where it has not been patched.
    let whole: JSONValue
    let text: [UInt8]

    init(
        id: String, document: JSONValue, version: Int, created: Int, modified: Int, expires: Int?,
        number: Int
    ) {
        (self.id, self.document, self.version) = (id, document, version)
        (self.created, self.modified, self.expires) = (created, modified, expires)
        self.number = number
        var members: [JSONValue.Member] = [
            .init("_id", .string(id)), .init("_created", .int(created)),
            .init("_modified", .int(modified)), .init("_version", .int(version)),
        ]
        if let expires { members.append(.init("_expiresAt", .int(expires))) }
        whole = .object(members + document.members)
        text = whole.utf8
    }

    func isThere(at time: Int) -> Bool { expires.map { $0 > time } ?? true }
}

/// A write as the model and the service get it.
enum ModelWrite: Sendable {
    case put(id: String, JSONValue, Expiry)
    case putMany([(id: String, document: JSONValue)], Expiry)
    case patch(id: String, JSONValue, Expiry)
    case delete(id: String)
    case deleteWhere(JSONValue)
    case deleteBucket

    /// The method and its params.
    func request(_ bucket: String) -> (method: String, params: String) {
        var members: [JSONValue.Member] = [.init("bucket", .string(bucket))]
        func add(_ name: String, _ value: JSONValue) { members.append(.init(name, value)) }
        let method: String
        switch self {
        case .put(let id, let document, let expiry), .patch(let id, let document, let expiry):
            if case .put = self { method = "object.put" } else { method = "object.patch" }
            add("id", .string(id))
            add("object", document)
            expiry.member.map { add("expiresAt", $0) }
        case .putMany(let objects, let expiry):
            method = "object.putMany"
            let list = objects.map { id, document in
                JSONValue.object([.init("_id", .string(id))] + document.members)
            }
            add("objects", .array(list))
            expiry.member.map { add("expiresAt", $0) }
        case .delete(let id):
            method = "object.delete"
            add("id", .string(id))
        case .deleteWhere(let clause):
            method = "bucket.deleteWhere"
            add("bucketQuery", .object(["clause": clause]))
        case .deleteBucket: method = "bucket.delete"
        }
        return (method, JSONValue.object(members).text)
    }
}

extension Expiry {
    fileprivate var member: JSONValue? {
        switch self {
        case .unchanged: nil
        case .never: .null
        case .at(let time): .int(Int(time))
        }
    }

    fileprivate func time(present: Int?) -> Int? {
        switch self {
        case .unchanged: present
        case .never: nil
        case .at(let time): Int(time)
        }
    }
}

/// What a write has to be answered with.
enum ModelAnswer: Sendable, Equatable {
    /// Ids and versions.
    case stored([String])
    case deleted(Int)
    case done
    case refused(String)
}

/// A bucket as a list in the order of creation.
struct ModelBucket: Sendable {
    private(set) var objects: [ModelObject] = []
    private(set) var exists = false
    private var lastNumber = 0

    func object(_ id: String) -> ModelObject? { objects.first { $0.id == id } }

    /// Does what a write does at a time.
    mutating func perform(_ write: ModelWrite, at time: Int) -> ModelAnswer {
        objects.removeAll { !$0.isThere(at: time) }
        switch write {
        case .put(let id, let document, let expiry):
            return .stored([put(id, document, expiry.time(present: nil), time)])
        case .putMany(let list, let expiry):
            return .stored(
                list.map { put($0.id, $0.document, expiry.time(present: nil), time) })
        case .patch(let id, let patch, let expiry):
            guard let present = object(id) else { return .refused("OBJECT_NOT_FOUND") }
            let merged = present.document.merged(with: patch)
            // Half of a GeoPoint is none.
            guard !merged.hasMalformedPoint else { return .refused("INVALID_INPUT_DATA") }
            return .stored([put(id, merged, expiry.time(present: present.expires), time)])
        case .delete(let id):
            guard object(id) != nil else { return .refused("OBJECT_NOT_FOUND") }
            objects.removeAll { $0.id == id }
            return .done
        case .deleteWhere(let clause):
            let before = objects.count
            objects.removeAll { OracleClause.evaluate(clause, on: $0.whole) == true }
            return .deleted(before - objects.count)
        case .deleteBucket:
            guard exists else { return .refused("BUCKET_NOT_FOUND") }
            defer { (objects, exists) = ([], false) }
            return .deleted(objects.count)
        }
    }

    private mutating func put(
        _ id: String, _ document: JSONValue, _ expires: Int?, _ time: Int
    ) -> String {
        exists = true
        let position = objects.firstIndex { $0.id == id }
        let present = position.map { objects[$0] }
        if present == nil { lastNumber += 1 }
        let object = ModelObject(
            id: id, document: document, version: (present?.version ?? 0) + 1,
            created: present?.created ?? time, modified: time, expires: expires,
            number: present?.number ?? lastNumber)
        if let position { objects[position] = object } else { objects.append(object) }
        return "\(id) \(object.version)"
    }
}
