import PlainJSON

/// Reads models from documents without loss: a boolean is never a number, and an integer is never
/// truncated.
///
///     let shop = try ModelDecoder.decode(Shop.self, from: object.document)
///
/// Names that the model does not have are ignored.
public enum ModelDecoder {
    /// - Throws: `JSONMismatch` with the key path; what the model's own `init(from:)` throws.
    public static func decode<Model: Decodable>(
        _ type: Model.Type = Model.self, from value: JSONValue
    ) throws -> Model {
        do {
            return try ValueDecoder(value: value, codingPath: []).decode(type)
        } catch let error as DecodingError {
            throw JSONMismatch(error)
        }
    }
}

extension JSONMismatch {
    fileprivate init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init("is missing", at: Self.path(context.codingPath + [key]))
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .dataCorrupted(let context):
            self.init(context.debugDescription, at: Self.path(context.codingPath))
        @unknown default: self.init("\(error)")
        }
    }

    /// `shops[3].location`
    static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce("") { path, key in
            if let index = key.intValue { return path + "[\(index)]" }
            return path + (path.isEmpty ? "" : ".") + key.stringValue
        }
    }
}

private struct ValueDecoder: Decoder, SingleValueDecodingContainer {
    let value: JSONValue
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// A value of a type that JSON can hold directly, else what the type reads from its containers.
    func decode<Model: Decodable>(_ type: Model.Type) throws -> Model {
        guard let convertible = type as? any JSONConvertible.Type else {
            return try Model(from: self)
        }
        return try JSONMismatch.inside(JSONMismatch.path(codingPath)) {
            try convertible.init(jsonValue: value) as! Model
        }
    }

    func decodeNil() -> Bool { value == .null }

    func container<Key: CodingKey>(keyedBy: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object = value else {
            throw mismatch(JSONMismatch.expected("an object", found: value))
        }
        return KeyedDecodingContainer(KeyedValues(value, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = value.array else {
            throw mismatch(JSONMismatch.expected("an array", found: value))
        }
        return ListedValues(elements: elements, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    private func mismatch(_ mismatch: JSONMismatch) -> JSONMismatch {
        JSONMismatch(mismatch.message, at: JSONMismatch.path(codingPath))
    }
}

private struct KeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let names: [String]
    let values: [MemberName: JSONValue]
    let codingPath: [any CodingKey]

    init(_ object: JSONValue, codingPath: [any CodingKey]) {
        (names, values) = (object.names, object.valuesByName)
        self.codingPath = codingPath
    }

    var allKeys: [Key] { names.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { values[MemberName(key.stringValue)] != nil }

    private func decoder(_ key: any CodingKey) throws -> ValueDecoder {
        guard let value = values[MemberName(key.stringValue)] else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "is missing"))
        }
        return ValueDecoder(value: value, codingPath: codingPath + [key])
    }

    func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).decodeNil() }

    func decode<Model: Decodable>(_ type: Model.Type, forKey key: Key) throws -> Model {
        try decoder(key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try decoder(SuperKey()) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }
}

private struct ListedValues: UnkeyedDecodingContainer {
    let elements: [JSONValue]
    let codingPath: [any CodingKey]
    var currentIndex = 0

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    private var decoder: ValueDecoder {
        get throws {
            let path = codingPath + [IndexKey(currentIndex)]
            guard !isAtEnd else {
                throw JSONMismatch("is missing", at: JSONMismatch.path(path))
            }
            return ValueDecoder(value: elements[currentIndex], codingPath: path)
        }
    }

    /// Advances if `body` has not thrown.
    private mutating func advance<Result>(
        _ body: (ValueDecoder) throws -> Result
    ) throws -> Result {
        let result = try body(decoder)
        currentIndex += 1
        return result
    }

    mutating func decodeNil() throws -> Bool {
        guard try decoder.decodeNil() else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Model: Decodable>(_ type: Model.Type) throws -> Model {
        try advance { try $0.decode(type) }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try advance { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try advance { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try advance { $0 } }
}

/// The index of an element in a key path.
struct IndexKey: CodingKey {
    let intValue: Int?
    var stringValue: String { "\(intValue ?? 0)" }

    init(_ index: Int) { intValue = index }
    init?(intValue: Int) { self.intValue = intValue }
    init?(stringValue: String) { return nil }
}

/// The key of a superclass's part.
struct SuperKey: CodingKey {
    var stringValue: String { "super" }
    var intValue: Int? { nil }

    init() {}
    init?(intValue: Int) { return nil }
    init?(stringValue: String) { return nil }
}
