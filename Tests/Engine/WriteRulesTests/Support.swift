import BackendContract
import JSONText
import Objects
import TestSupport
import Testing

let shops = BucketName(trusted: "shops")

/// A dictionary, a clock, and a judge for each write.
struct Court {
    let state = DictionaryState()
    let limits: Limits
    var now: Int64 = 1_000 {
        didSet { state.now = now }
    }
    /// The ids that are given to new objects, one after the other.
    let newIDs: NewIDs

    init(limits: Limits = Limits(), newIDs: [String] = []) {
        self.limits = limits
        self.newIDs = NewIDs(newIDs)
        state.now = now
    }

    final class NewIDs {
        var left: [String]
        init(_ ids: [String]) { left = ids }
        func next() -> ObjectID { ObjectID(trusted: left.removeFirst()) }
    }

    var evaluator: WriteEvaluator<DictionaryState> {
        WriteEvaluator(on: state, at: now, limits: limits, parser: JSONParser()) { [newIDs] _ in
            newIDs.next()
        }
    }

    /// - Throws: what fails the transaction.
    func result(
        of write: Write, key: RequestKey? = nil
    ) throws -> Result<WriteAnswer, ServiceFailure> {
        try evaluator.perform(write, key: key)
    }

    /// The versions that a write leaves ("kept" where it was not done), how many it deletes, or why and
    /// where it is refused.
    func outcome(of write: Write, key: RequestKey? = nil) throws -> String {
        switch try result(of: write, key: key) {
        case .success(.stored(let objects)):
            "["
                + objects.map { ($0.isWritten ? "" : "kept ") + "\($0.metadata.version)" }
                .joined(separator: ", ") + "]"
        case .success(.deleted(let count)): "deleted \(count)"
        case .failure(let failure):
            failure.path.map { "\(failure.reason.rawValue) \($0)" } ?? failure.reason.rawValue
        }
    }

    /// The object as clients read it, one that has expired too.
    func text(_ id: String, in bucket: BucketName = shops) -> String? {
        state.stored(ObjectID(trusted: id), in: bucket).map {
            String(decoding: $0.whole, as: UTF8.self)
        }
    }

    /// Marks an object as one that cannot be read.
    func damage(_ id: String) {
        let position = state.buckets[shops]!.firstIndex { $0.metadata.id.text == id }!
        state.buckets[shops]![position].isDamaged = true
    }
}

/// An object of a JSON text, validated as requests are.
func object(
    _ text: String, id: String? = nil, owner: String? = nil, dataType: String? = nil,
    expires: Int64? = nil, ifNewer: FieldPath? = nil
) throws -> PutObject {
    let document = try JSONParser.reading(Array(text.utf8)) {
        try WrittenDocument($0, at: "object", limits: Limits())
    }
    return PutObject(
        id: id.map { ObjectID(trusted: $0) }, document: document, owner: owner, dataType: dataType,
        expires: expires, ifNewer: ifNewer)
}

func put(
    _ id: String?, _ text: String = "{}", if condition: WriteCondition = .none,
    expires: Int64? = nil, ifNewer: FieldPath? = nil
) throws -> Write {
    .put(
        bucket: shops, object: try object(text, id: id, expires: expires, ifNewer: ifNewer),
        condition: condition)
}

func patch(
    _ id: String, _ text: String = "{}", ifVersion: Int64? = nil, ifNewer: FieldPath? = nil,
    expiry: Expiry = .unchanged, options: PatchOptions = []
) -> Write {
    .patch(
        bucket: shops, id: ObjectID(trusted: id), patch: Array(text.utf8), ifVersion: ifVersion,
        ifNewer: ifNewer, expiry: expiry, options: options)
}

func delete(_ id: String, ifVersion: Int64? = nil) -> Write {
    .delete(bucket: shops, id: ObjectID(trusted: id), ifVersion: ifVersion)
}

/// An object with GeoPoints in some of its fields.
func points(_ fields: String...) -> String {
    let members = fields.map { #""\#($0)":{"_type":"point","lat":1,"lon":2}"# }
    return "{\(members.joined(separator: ","))}"
}
