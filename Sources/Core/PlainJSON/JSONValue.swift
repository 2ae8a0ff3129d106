/// A JSON value that owns its memory, unlike the borrowed `JSONView`.
///
///     let answer = try JSONValue(parsing: line)
///     answer["result"]?["count"]?.int        // 12
public indirect enum JSONValue: Sendable, Equatable {
    /// The literal `null`: a value, unlike a member that is missing.
    case null
    /// The literal `true` or `false`.
    case bool(Bool)
    /// A number whose digits all fit a `JSONNumber`.
    case number(JSONNumber)
    /// A number with more digits than a `JSONNumber` keeps.
    case digits(JSONDigits)
    /// Text with its escapes resolved.
    case string(String)
    /// Elements in the order of the text.
    case array([JSONValue])
    /// Members in the order of the text.
    case object([Member])

    /// A name and a value. Names may repeat in an object.
    public struct Member: Sendable, Equatable {
        /// The name with its escapes resolved.
        public var name: String
        /// What the name stands for.
        public var value: JSONValue

        /// A member of an object; any name is allowed, an empty one too.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// - Throws: `JSONSyntaxError` for a text that is not JSON, and for a number beyond binary64.
    public init(parsing text: [UInt8]) throws {
        self = try PlainJSONParser.reading(text) { try JSONValue($0) }
    }

    /// The value of a JSON text.
    ///
    /// - Throws: `JSONSyntaxError` for a text that is not JSON, and for a number beyond binary64.
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

    /// A whole number.
    public static func int(_ value: Int) -> JSONValue { .number(.integer(Int64(value))) }
    /// A number, which has to be finite to be written.
    public static func double(_ value: Double) -> JSONValue { .number(.decimal(value)) }

    /// An object of members in the order of a dictionary literal, duplicates included.
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

    /// The element of an array; nil for an index outside it, and for anything but an array.
    public subscript(_ index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The elements of an array; nil for anything else.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { return elements }
        return nil
    }

    /// The members of an object; none for anything else.
    public var members: [Member] {
        if case .object(let members) = self { return members }
        return []
    }

    /// The names of an object's members in the order of the text; none for anything else.
    public var names: [String] { members.map(\.name) }

    /// The text of a string; nil for anything else.
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

    /// A number as the nearest binary64; nil for anything else.
    public var double: Double? { number?.double }

    /// The value of `true` or `false`; nil for anything else, numbers included.
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

    /// Appends the value as JSON text without white space; its numbers have to be finite.
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
