import JSONText

/// A JSON value that owns itself: what tests look answers up in and build documents from.
///
///     let answer = try JSONValue(parsing: line)
///     answer["result"]?["count"]?.int        // 12
public indirect enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    /// Members in the order of the text.
    case object([Member])

    public struct Member: Sendable, Equatable {
        public var name: String
        public var value: JSONValue

        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    public init(parsing text: [UInt8]) throws {
        self = try JSONParser.reading(text) { JSONValue($0) }
    }

    public init(parsing text: String) throws { try self.init(parsing: Array(text.utf8)) }

    public init(_ view: JSONView) {
        switch view.kind {
        case .null: self = .null
        case .bool: self = .bool(view.bool!)
        case .number: self = .number(view.number!)
        case .huge: self = .string("a number out of range")
        case .string: self = .string(view.string!)
        case .array: self = .array(view.elements.map { JSONValue($0) })
        case .object:
            self = .object(
                view.members.map {
                    Member(String(decoding: $0.name, as: UTF8.self), JSONValue($0.value))
                })
        }
    }

    public static func int(_ value: Int) -> JSONValue { .number(.integer(Int64(value))) }
    public static func double(_ value: Double) -> JSONValue { .number(.decimal(value)) }

    public static func object(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(members.map { Member($0.key, $0.value) })
    }

    public static func point(_ latitude: Double, _ longitude: Double) -> JSONValue {
        .object(["_type": .string("point"), "lat": .double(latitude), "lon": .double(longitude)])
    }

    public subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    public subscript(_ index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    public var array: [JSONValue]? {
        if case .array(let elements) = self { return elements }
        return nil
    }

    public var names: [String] {
        if case .object(let members) = self { return members.map(\.name) }
        return []
    }

    public var string: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    public var number: JSONNumber? {
        if case .number(let number) = self { return number }
        return nil
    }

    public var int: Int? { number?.exactInt }
    public var double: Double? { number?.double }

    public var bool: Bool? {
        if case .bool(let bool) = self { return bool }
        return nil
    }

    /// The value as JSON text.
    public var text: String {
        var writer = JSONWriter()
        write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.raw("null")
        case .bool(let bool): writer.bool(bool)
        case .number(let number): writer.number(number)
        case .string(let text): writer.string(text)
        case .array(let elements):
            writer.byte(UInt8(ascii: "["))
            writer.raw(Array(elements.map(\.text).joined(separator: ",").utf8))
            writer.byte(UInt8(ascii: "]"))
        case .object(let members):
            writer.byte(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { writer.byte(UInt8(ascii: ",")) }
                writer.string(member.name)
                writer.byte(UInt8(ascii: ":"))
                member.value.write(to: &writer)
            }
            writer.byte(UInt8(ascii: "}"))
        }
    }
}
