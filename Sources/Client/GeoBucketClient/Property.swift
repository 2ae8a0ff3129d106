import PlainJSON

/// A property under the name it has in documents: key-value coding for types that list their
/// properties once.
public struct Property<Root> {
    /// The name of the member in documents.
    public let name: String
    let read: (Root) throws -> JSONValue
    let write: (inout Root, JSONValue) throws -> Void

    /// A property whose type converts to and from JSON.
    ///
    /// - Parameter name: the member's name in documents, which need not be the property's.
    public init<Value: JSONConvertible>(
        _ name: String, _ keyPath: WritableKeyPath<Root, Value>
    ) {
        self.init(name, keyPath, read: { try $0.jsonValue }, make: { try Value(jsonValue: $0) })
    }

    /// A property that is itself such a model.
    public init<Value: KeyValueCoded>(_ name: String, _ keyPath: WritableKeyPath<Root, Value>) {
        self.name = name
        read = { try $0[keyPath: keyPath].jsonValue }
        write = { $0[keyPath: keyPath] = try $0[keyPath: keyPath].configured(with: $1) }
    }

    /// A property of a type with its own conversion to JSON.
    package init<Value>(
        _ name: String, _ keyPath: WritableKeyPath<Root, Value>,
        read: @escaping (Value) throws -> JSONValue, make: @escaping (JSONValue) throws -> Value
    ) {
        self.name = name
        self.read = { try read($0[keyPath: keyPath]) }
        write = { $0[keyPath: keyPath] = try make($1) }
    }
}

/// A type whose properties are read and set by name, as Objective-C's key-value coding does, but
/// with their types: a boolean stays a boolean.
///
///     final class Shop: KeyValueCoded {
///         var name = ""
///         var open = false
///         static var properties: [Property<Shop>] {
///             [Property("name", \.name), Property("open", \.open)]
///         }
///     }
///     try shop.configureValues(with: JSONValue(parsing: #"{"open":true,"tax":7}"#))
///     try shop.jsonValue.text                      // {"name":"","open":true}
public protocol KeyValueCoded {
    /// The properties that documents have, in the order in which they are written.
    static var properties: [Property<Self>] { get }
}

extension KeyValueCoded {
    /// The properties as a document, in the order they are listed.
    ///
    /// - Throws: `JSONMismatch` with the property's name for a value that JSON cannot hold.
    public var jsonValue: JSONValue {
        get throws {
            .object(
                try Self.properties.map { property in
                    JSONValue.Member(
                        property.name,
                        try JSONMismatch.inside(property.name) { try property.read(self) })
                })
        }
    }

    /// The properties by name.
    public var valueDictionary: [String: JSONValue] {
        get throws { try jsonValue.dictionary ?? [:] }
    }

    /// Sets the properties that a document has; names that are not listed are ignored.
    ///
    /// - Throws: `JSONMismatch` for a document that is not an object, and with the path of a value
    ///   that does not match. A value type is then unchanged.
    public mutating func configureValues(with document: JSONValue) throws {
        self = try configured(with: document)
    }

    /// A copy, or for a class the same instance, with the properties of a document.
    fileprivate func configured(with document: JSONValue) throws -> Self {
        guard case .object = document else {
            throw JSONMismatch.expected("an object", found: document)
        }
        var root = self
        for property in Self.properties {
            guard let value = document[property.name] else { continue }
            try JSONMismatch.inside(property.name) { try property.write(&root, value) }
        }
        return root
    }
}

extension KeyValueCoded where Self: AnyObject {
    /// Sets the properties that a document has; names that are not listed are ignored.
    ///
    /// - Throws: `JSONMismatch` for a document that is not an object, and with the path of a value
    ///   that does not match. The properties listed before that one are then already set.
    public func configureValues(with document: JSONValue) throws {
        _ = try configured(with: document)
    }
}

extension GeoObject {
    /// Sets the fields that a model lists, all or none.
    ///
    /// - Throws: `ClientFailure.invalid`, `JSONMismatch`.
    public func setValues(of model: some KeyValueCoded) throws {
        let members = try model.jsonValue.members
        for member in members { try Self.check(member.name) }
        state.withLock { state in
            for member in members { state.set(member.value, member.name) }
        }
    }
}
