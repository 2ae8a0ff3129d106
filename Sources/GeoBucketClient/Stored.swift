import FoundationEssentials
import JSONText

/// A model as a bucket holds it: the model, and what the service knows of the object around it.
///
///     var shop = try await shops.save(Shop(name: "Kiosk", open: true))
///     shop.model.open = false
///     try await shops.save(&shop)                 // unless somebody else changed it meanwhile
public struct Stored<Model: Codable & Sendable>: Sendable {
    public var model: Model
    /// The object around the model, as it was last read or written.
    public fileprivate(set) var object: GeoObject

    public var id: String { object.uuid ?? "" }
    public var version: Int64 { object.version ?? 0 }
    public var created: Date { object.created ?? .distantPast }
    public var modified: Date { object.modified ?? .distantPast }

    /// The distance in metres that a clause put under a name.
    public func distance(_ name: String) -> Double? { object.distance(name) }

    /// First-level names that the model wrote or would have written as it was read.
    fileprivate var names: [String]

    init(_ object: GeoObject) throws {
        self.object = object
        model = try ModelDecoder.decode(from: object.document)
        names = try ModelEncoder.encode(model).names
    }
}

/// What becomes of an object's fields that a model does not have.
public enum UnknownFields: Sendable {
    case dropped
    case kept
}

extension Bucket {
    /// Writes a model as a new object, or over whatever has the id.
    @discardableResult
    public func save<Model: Codable & Sendable>(
        _ model: Model, withID id: String? = nil
    ) async throws -> Stored<Model> {
        let object = GeoObject(self, id: id)
        object.replace(with: try Self.document(model))
        try await object.saveAllFields()
        return try Stored(object)
    }

    /// Writes a changed model back.
    ///
    /// - Parameters:
    ///   - unknownFields: what becomes of fields of the object that the model does not have.
    ///   - forced: false fails when somebody has changed the object since it was read.
    /// - Throws: `ClientFailure.refused` with `OBJECT_VERSION_IS_STALE`; `.invalid` when the object
    ///   was read with some of its fields only. `stored` is as before then.
    public func save<Model>(
        _ stored: inout Stored<Model>, unknownFields: UnknownFields = .kept, forced: Bool = false
    ) async throws {
        var members = try Self.document(stored.model)
        let names = members.map(\.name)
        let state = stored.object.state.withLock { $0 }
        if unknownFields == .kept {
            let known = Set((names + stored.names).map { Array($0.utf8) })
            members += state.fields.filter { !known.contains(Array($0.name.utf8)) }
        }
        // An object of its own: copies of `stored` keep the version they were read with.
        let object = GeoObject(stored.object.bucket, state: state)
        object.replace(with: members)
        try await object.saveAllFields(forced: forced)
        (stored.object, stored.names) = (object, names)
    }

    /// The model that an object holds.
    public func object<Model: Codable & Sendable>(
        of type: Model.Type, withID id: String
    ) async throws -> Stored<Model> {
        try Stored(try await object(withID: id))
    }

    /// Every object that matches, as a model; page by page as they are asked for.
    ///
    /// - Throws: while iterating, `JSONMismatch` with the id and key path of what does not match.
    public func objects<Model: Codable & Sendable>(
        of type: Model.Type, matching query: BucketQuery = BucketQuery()
    ) -> AsyncThrowingMapSequence<ObjectSequence, Stored<Model>> {
        objects(matching: query).map { object in
            try JSONMismatch.inside(object.uuid ?? "") { try Stored(object) }
        }
    }

    private static func document(_ model: some Encodable) throws -> [JSONValue.Member] {
        guard case .object(let members) = try ModelEncoder.encode(model) else {
            throw ClientFailure.invalid("the model is no object", path: nil)
        }
        return members
    }
}

extension GeoObject {
    /// Puts these fields in the place of all others; predefined ones among them are passed over.
    fileprivate func replace(with members: [JSONValue.Member]) {
        state.withLock { $0.fields = members.filter { !$0.name.isPredefinedName } }
    }
}
