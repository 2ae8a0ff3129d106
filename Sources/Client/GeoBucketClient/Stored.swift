import PlainJSON

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A model as it is stored in a bucket: the model, and the object that holds it.
///
///     var shop = try await shops.save(Shop(name: "Kiosk", open: true))
///     shop.model.open = false
///     try await shops.save(&shop)                 // unless somebody else changed it meanwhile
public struct Stored<Model: Codable & Sendable>: Sendable {
    /// The model, which may be changed; `Bucket.save` writes the changes.
    public var model: Model
    /// The object that holds the model, as it was last read or written.
    public fileprivate(set) var object: GeoObject

    /// The object's id; empty once the object was deleted.
    public var id: String { object.uuid ?? "" }
    /// 1 at creation, one more for each change; 0 once the object was deleted.
    public var version: Int64 { object.version ?? 0 }
    /// When the service created the object; the distant past once it was deleted.
    public var created: Date { object.created ?? .distantPast }
    /// When the service last changed the object; the distant past once it was deleted.
    public var modified: Date { object.modified ?? .distantPast }

    /// The distance in metres that a clause reported under a name.
    public func distance(_ name: String) -> Double? { object.distance(name) }

    /// The model as it was read or written.
    fileprivate var baseline: Baseline

    init(_ object: GeoObject) throws {
        self.object = object
        model = try ModelDecoder.decode(from: object.document)
        baseline = Baseline(
            document: try ModelEncoder.encode(model), state: object.state.withLock { $0 })
    }
}

/// A model's document when it was read or written, and the state of its object at that time.
private struct Baseline: Sendable {
    var document = JSONValue.object([])
    var state = GeoObject.State()
}

/// What becomes of an object's fields that a model does not have.
public enum UnknownFields: Sendable {
    /// A save leaves only the model's fields.
    case dropped
    /// A save leaves them as they are.
    case kept
}

extension Bucket {
    /// Writes a model as a new object, or replaces the object with the id.
    @discardableResult
    public func save<Model: Codable & Sendable>(
        _ model: Model, withID id: String? = nil
    ) async throws -> Stored<Model> {
        let object = GeoObject(self, id: id)
        let document = try Self.document(model)
        object.state.withLock { $0.set(document, after: Baseline()) }
        try await object.saveAllFields()
        return try Stored(object)
    }

    /// Writes a changed model back. Fields that the app did not change keep their order and their
    /// spelling.
    ///
    /// - Parameters:
    ///   - unknownFields: what becomes of fields of the object that the model does not have.
    ///   - forced: false fails if somebody has changed the object since it was read.
    /// - Throws: `ClientFailure.refused` with `OBJECT_VERSION_IS_STALE`; `.invalid` when the object
    ///   was read with some of its fields only. `stored` is as before then.
    public func save<Model>(
        _ stored: inout Stored<Model>, unknownFields: UnknownFields = .kept, forced: Bool = false
    ) async throws {
        let document = try Self.document(stored.model)
        var state = stored.object.state.withLock { $0 }
        state.set(document, after: stored.baseline)
        if unknownFields == .dropped {
            let known = document.valuesByName
            for field in state.fields where known[MemberName(field.name)] == nil {
                state.set(nil, field.name)
            }
        }
        // A separate object: copies of `stored` keep the version they were read with.
        let object = GeoObject(stored.object.bucket, state: state)
        try await object.saveAllFields(forced: forced)
        (stored.object, stored.baseline) = (object, Baseline(document: document, state: state))
    }

    /// The model in an object.
    public func object<Model: Codable & Sendable>(
        of type: Model.Type, withID id: String
    ) async throws -> Stored<Model> {
        try Stored(try await object(withID: id))
    }

    /// Every object that matches, as a model. Pages are fetched on demand.
    ///
    /// - Throws: while iterating, `JSONMismatch` with the id and key path of the value that does
    ///   not match.
    public func objects<Model: Codable & Sendable>(
        of type: Model.Type, matching query: BucketQuery = BucketQuery()
    ) -> AsyncThrowingMapSequence<ObjectSequence, Stored<Model>> {
        objects(matching: query).map { object in
            try JSONMismatch.inside(object.uuid ?? "") { try Stored(object) }
        }
    }

    private static func document(_ model: some Encodable) throws -> JSONValue {
        let document = try ModelEncoder.encode(model)
        guard case .object = document else {
            throw ClientFailure.invalid("the model is no object", path: nil)
        }
        return document
    }
}

extension GeoObject.State {
    /// Sets the fields of a model's document and removes those it no longer has. An unchanged field
    /// keeps its spelling; predefined fields are ignored.
    fileprivate mutating func set(_ document: JSONValue, after baseline: Baseline) {
        let (values, before) = (document.valuesByName, baseline.document.valuesByName)
        for member in document.members where !member.name.isPredefinedName {
            // Compared by their text: equal strings may be spelled with other code points.
            let isSame = before[MemberName(member.name)]?.utf8 == member.value.utf8
            let text = isSame ? baseline.state.text(of: member.name) : nil
            replace(
                member.name, with: .init(name: member.name, value: member.value, text: text))
        }
        for name in baseline.document.names
        where values[MemberName(name)] == nil && !name.isPredefinedName {
            set(nil, name)
        }
    }
}
