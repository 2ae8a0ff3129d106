import JSONText
import Objects
import QueryLanguage
import ServiceDesk
import WebExchange

/// What is known of a collection as JSON Schemas.
extension CollectionShape {
    /// The JSON Schema of a feature, in which every property may also be null.
    ///
    /// GDAL understands only types that are a single word; it would take all others for strings. So
    /// each property with one type besides null refers to a definition by a name with a `~`, which a
    /// JSON Pointer spells `~0`. GDAL leaves the name as it is, and finds the definition with the
    /// single word; the other one restricts nothing.
    func schema(title: String, address: String) -> JSONValue {
        let always = Self.always.map { JSONValue.Member($0.rawValue, $0.schema.nullable) }
        let properties = always + firstLevel.map { .init($0.path, $0.schema.nullable) }
        let definitions = ValueSchema.words.flatMap { word -> [JSONValue.Member] in
            [
                .init("~" + word, .object([])),
                .init("~0" + word, .object(["type": .string(word)])),
            ]
        }
        return .object([
            "$schema": .string(Self.dialect), "$id": .string(address), "title": .string(title),
            "type": .string("object"),
            "required": .array(["type", "id", "geometry", "properties"].map { .string($0) }),
            "properties": .object([
                "type": .object(["type": .string("string"), "enum": .array([.string("Feature")])]),
                "id": .object(["type": .string("string")]),
                "geometry": .object([
                    "oneOf": .array([
                        Self.geometry("Point", Self.position),
                        Self.geometry(
                            "MultiPoint",
                            .object(["type": .string("array"), "items": Self.position])),
                    ])
                ]),
                "properties": .object([
                    "type": .string("object"), "properties": .object(properties),
                ]),
            ]),
            "$defs": .object(definitions),
        ])
    }

    /// The queryables: a JSON Schema, and the array of ids that GDAL reads.
    func queryables(title: String, address: String) -> JSONValue {
        let predefined = PredefinedField.allCases.map {
            JSONValue.Member($0.rawValue, $0.schema.plain)
        }
        let named = predefined + queryableFields.map { .init($0.path, $0.schema.plain) }
        let geometry = JSONValue.Member(
            geoField.text,
            .object([
                "format": .string("geometry-point-or-multipoint"),
                "x-ogc-role": .string("primary-geometry"),
            ]))
        return .object([
            "$schema": .string(Self.dialect), "$id": .string(address), "title": .string(title),
            "type": .string("object"), "properties": .object([geometry] + named),
            "additionalProperties": .bool(true),
            "queryables": .array(named.map { .object(["id": .string($0.name)]) }),
        ])
    }

    private static let dialect = "https://json-schema.org/draft/2020-12/schema"

    private static func geometry(_ type: String, _ coordinates: JSONValue) -> JSONValue {
        .object([
            "type": .string("object"),
            "required": .array([.string("type"), .string("coordinates")]),
            "properties": .object([
                "type": .object(["type": .string("string"), "enum": .array([.string(type)])]),
                "coordinates": coordinates,
            ]),
        ])
    }

    private static let position = JSONValue.object([
        "type": .string("array"), "minItems": .int(2),
        "items": .object(["type": .string("number")]),
    ])
}

/// The JSON Schema of a property's values.
private struct ValueSchema {
    /// JSON Schema's words for the types of the values that are not null, in alphabetical order.
    private let words: [String]
    /// Whether all numbers are whole, but some of them beyond 32 bits. GDAL reads an `integer` into 32
    /// bits, so they are `number`s that are multiples of 1.
    private let isWide: Bool

    static let words = ["array", "boolean", "integer", "number", "object", "string"]

    init(_ types: Set<FieldType>, isWide: Bool) {
        self.isWide = isWide && types.contains(.integer) && !types.contains(.decimal)
        let integer = isWide || types.contains(.decimal) ? "number" : "integer"
        let words = types.compactMap { type -> String? in
            switch type {
            case .string: "string"
            case .integer: integer
            case .decimal: "number"
            case .boolean: "boolean"
            case .geoPoint, .object: "object"
            case .array: "array"
            case .null: nil
            }
        }
        self.words = Set(words).sorted()
    }

    private var bounds: [JSONValue.Member] { isWide ? [.init("multipleOf", .int(1))] : [] }

    /// A schema that permits null too.
    var nullable: JSONValue {
        guard let word = words.first else { return .object([]) }
        let types = JSONValue.Member("type", .array((words + ["null"]).map { .string($0) }))
        let reference = JSONValue.Member("$ref", .string("#/$defs/~0" + word))
        return .object([types] + (words.count == 1 ? [reference] : []) + bounds)
    }

    /// A schema of the values that are not null.
    var plain: JSONValue {
        let types = words.map { word in
            JSONValue.object(
                [.init("type", .string(word))] + (word == "number" ? bounds : []))
        }
        return types.count == 1 ? types[0] : .object(["anyOf": .array(types)])
    }
}

extension SurveyedField {
    fileprivate var schema: ValueSchema { ValueSchema(Set(types), isWide: isWide) }
}

extension PredefinedField {
    fileprivate var schema: ValueSchema {
        switch self {
        case .created, .modified, .expires: ValueSchema([.integer], isWide: true)
        case .version: ValueSchema([.integer], isWide: false)
        case .id, .owner, .dataType: ValueSchema([.string], isWide: false)
        }
    }
}
