import PlainJSON

/// Writes models as documents without loss: `true` stays `true`, and whole numbers have no
/// fraction.
public enum ModelEncoder {
    /// - Throws: `JSONMismatch` with the key path for what JSON cannot hold; what the model's own
    ///   `encode(to:)` throws.
    public static func encode(_ model: some Encodable) throws -> JSONValue {
        do {
            return try ValueEncoder.encode(model, codingPath: [])
        } catch EncodingError.invalidValue(_, let context) {
            throw JSONMismatch(
                context.debugDescription, at: JSONMismatch.path(context.codingPath))
        }
    }
}

/// The destination of one value, filled in by the container that asks for it.
private final class Slot {
    private enum Content {
        case nothing
        case value(JSONValue)
        case members
        case elements
    }

    private var content = Content.nothing
    /// The slots of an object's members or an array's elements, in their order.
    private var parts: [Slot] = []
    /// The names of the members, each with the index of its slot.
    private var names: [String] = []
    private var indices: [MemberName: Int] = [:]

    func set(_ value: JSONValue) { become(.value(value)) }

    /// Makes it an object, if it is not one yet.
    func openObject() {
        if case .members = content { return }
        become(.members)
    }

    func openArray() {
        if case .elements = content { return }
        become(.elements)
    }

    private func become(_ content: Content) {
        (self.content, parts, names, indices) = (content, [], [], [:])
    }

    var count: Int {
        if case .elements = content { return parts.count }
        return 0
    }

    func member(_ name: String) -> Slot {
        guard case .members = content else { return Slot() }
        let key = MemberName(name)
        if let index = indices[key] { return parts[index] }
        indices[key] = parts.count
        names.append(name)
        return newPart()
    }

    func appended() -> Slot {
        guard case .elements = content else { return Slot() }
        return newPart()
    }

    private func newPart() -> Slot {
        let slot = Slot()
        parts.append(slot)
        return slot
    }

    var value: JSONValue {
        switch content {
        case .nothing: .object([])
        case .value(let value): value
        case .members: .object(zip(names, parts).map { .init($0, $1.value) })
        case .elements: .array(parts.map(\.value))
        }
    }
}

private struct ValueEncoder: Encoder, SingleValueEncodingContainer {
    let slot: Slot
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// A value that JSON can hold directly, else what the model writes into its containers.
    static func encode(_ model: some Encodable, codingPath: [any CodingKey]) throws -> JSONValue {
        guard let convertible = model as? any JSONConvertible else {
            let slot = Slot()
            try model.encode(to: ValueEncoder(slot: slot, codingPath: codingPath))
            return slot.value
        }
        return try JSONMismatch.inside(JSONMismatch.path(codingPath)) {
            try convertible.jsonValue
        }
    }

    func encodeNil() { slot.set(.null) }

    func encode(_ value: some Encodable) throws {
        slot.set(try Self.encode(value, codingPath: codingPath))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        slot.openObject()
        return KeyedEncodingContainer(KeyedSlots(slot: slot, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        slot.openArray()
        return ListedSlots(slot: slot, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

private struct KeyedSlots<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: Slot
    let codingPath: [any CodingKey]

    private func encoder(_ key: any CodingKey) -> ValueEncoder {
        ValueEncoder(slot: slot.member(key.stringValue), codingPath: codingPath + [key])
    }

    func encodeNil(forKey key: Key) { encoder(key).encodeNil() }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        try encoder(key).encode(value)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder(SuperKey()) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }
}

private struct ListedSlots: UnkeyedEncodingContainer {
    let slot: Slot
    let codingPath: [any CodingKey]

    var count: Int { slot.count }

    private func encoder() -> ValueEncoder {
        let path = codingPath + [IndexKey(count)]
        return ValueEncoder(slot: slot.appended(), codingPath: path)
    }

    func encodeNil() { encoder().encodeNil() }
    func encode(_ value: some Encodable) throws { try encoder().encode(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        encoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder() }
}
