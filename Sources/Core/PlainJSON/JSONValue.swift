/// A JSON value that owns its memory, unlike the borrowed `JSONView`.
///
///     let answer = try JSONValue(parsing: line)
///     answer["result"]?["count"]?.int        // 12
public indirect enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    /// A number with more digits than a `JSONNumber` keeps.
    case digits(JSONDigits)
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

    /// - Throws: `JSONSyntaxError` for a text that is not JSON, and for a number beyond binary64.
    public init(parsing text: [UInt8]) throws {
        self = try PlainJSONParser.reading(text) { try JSONValue($0) }
    }

    public init(parsing text: String) throws { try self.init(parsing: Array(text.utf8)) }

    /// - Throws: `JSONSyntaxError` for a number beyond binary64.
    public init(_ view: JSONView) throws {
        switch view.kind {
        case .null: self = .null
        case .bool: self = .bool(view.bool!)
        case .number: self = Self.number(view)
        case .huge:
            let text = String(decoding: view.text.prefix(40), as: UTF8.self)
            throw JSONSyntaxError(
                message: "the number \(text) is outside the range of numbers", offset: nil)
        case .string: self = .string(view.string!)
        case .array: self = .array(try view.elements.map { try JSONValue($0) })
        case .object:
            self = .object(
                try view.members.map {
                    Member(String(decoding: $0.name, as: UTF8.self), try JSONValue($0.value))
                })
        }
    }

    private static func number(_ view: JSONView) -> JSONValue {
        let number = view.number!
        guard case .decimal(let nearest) = number,
            let digits = JSONDigits(view.text, nearest: nearest)
        else { return .number(number) }
        return .digits(digits)
    }

    public static func int(_ value: Int) -> JSONValue { .number(.integer(Int64(value))) }
    public static func double(_ value: Double) -> JSONValue { .number(.decimal(value)) }

    public static func object(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(members.map { Member($0.key, $0.value) })
    }

    /// A GeoPoint, degrees.
    public static func point(_ latitude: Double, _ longitude: Double) -> JSONValue {
        .object(["_type": .string("point"), "lat": .double(latitude), "lon": .double(longitude)])
    }

    /// The member of an object; the last of duplicates. Names compare as code points.
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

    /// The members of an object; none for anything else.
    public var members: [Member] {
        if case .object(let members) = self { return members }
        return []
    }

    public var names: [String] { members.map(\.name) }

    public var string: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    /// A number by value; with more digits, the nearest binary64.
    public var number: JSONNumber? {
        switch self {
        case .number(let number): number
        case .digits(let digits): .decimal(digits.nearest)
        default: nil
        }
    }

    /// The number as an `Int`, when it is whole and fits one.
    public var int: Int? {
        if case .digits(let digits) = self { return digits.exactly() }
        return number?.exactInt
    }

    public var double: Double? { number?.double }

    public var bool: Bool? {
        if case .bool(let bool) = self { return bool }
        return nil
    }

    /// What kind of value it is, with its article: for messages.
    public var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number, .digits: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// The value as JSON text.
    public var text: String { String(decoding: utf8, as: UTF8.self) }

    /// The value as JSON text in UTF-8. Its numbers have to be finite, which `jsonValue` checks.
    public var utf8: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }

    public func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.raw("null")
        case .bool(let bool): writer.bool(bool)
        case .number(let number): writer.number(number)
        case .digits(let digits): writer.raw(Array(digits.text.utf8))
        case .string(let text): writer.string(text)
        case .array(let elements):
            writer.byte(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { writer.byte(UInt8(ascii: ",")) }
                element.write(to: &writer)
            }
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
