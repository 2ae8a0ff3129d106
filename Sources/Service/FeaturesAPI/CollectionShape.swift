import JSONText
import Objects
import QueryLanguage
import WebExchange

/// What is known of a collection's objects: its geo field, and their other fields with their types.
package struct CollectionShape: Sendable {
    /// A field path and the types of its values, the most frequent first.
    package struct Field: Sendable {
        let path: String
        let types: [FieldType]

        /// Stores its arguments.
        package init(path: String, types: [FieldType]) { (self.path, self.types) = (path, types) }
    }

    /// The field whose points are the geometries.
    let geoField: FieldPath
    /// The fields that the objects have, nested ones too, without those that the service sets.
    let fields: [Field]

    /// Stores its arguments.
    package init(geoField: FieldPath, fields: [Field]) {
        (self.geoField, self.fields) = (geoField, fields)
    }

    /// The fields of objects themselves, of which every feature has all; not the geometry.
    var firstLevel: [Field] {
        let objects = ObjectPaths(fields.lazy.filter { $0.types.contains(.object) }.map(\.path))
        let geometry = geoField.text
        return fields.filter { $0.path != geometry && !objects.contain($0.path) }
    }

    /// The names of the properties that every feature has, the service's own first, as objects have
    /// them.
    var names: [[UInt8]] {
        Self.always.map { Array($0.rawValue.utf8) } + firstLevel.map { Array($0.path.utf8) }
    }

    /// The fields that the service sets in every object.
    static let always = [PredefinedField.created, .modified, .version]

    /// The properties that parameters may name, as bytes.
    var queryableNames: Set<[UInt8]> {
        Set(
            PredefinedField.allCases.map { Array($0.rawValue.utf8) }
                + queryableFields.map { Array($0.path.utf8) })
    }

    /// The fields with values that can be compared, without that of the geometry.
    private var queryableFields: [Field] {
        let geometry = geoField.text
        return fields.filter {
            $0.path != geometry
                && !Set($0.types).isDisjoint(with: [.string, .integer, .decimal, .boolean])
        }
    }

    /// The fields that hold nothing but booleans.
    var booleans: Set<FieldPath> {
        Set(
            fields.filter { Set($0.types).subtracting([.null]) == [.boolean] }
                .map { FieldPath($0.path) })
    }

    // MARK: Documents

    /// The JSON Schema of a feature.
    ///
    /// A type is told by a single word, since GDAL understands no other; values may be null for all
    /// that. Whole numbers are `number`s that are multiples of 1: GDAL reads an `integer` into 32
    /// bits.
    func schema(title: String, address: String) -> JSONValue {
        let properties =
            Self.always.map { JSONValue.Member($0.rawValue, Self.schema(of: [.integer])) }
            + firstLevel.map { JSONValue.Member($0.path, Self.schema(of: $0.types)) }
        return .object([
            "$schema": .string(Self.dialect), "$id": .string(address), "title": .string(title),
            "type": .string("object"),
            "required": .array(["type", "id", "geometry", "properties"].map { .string($0) }),
            "properties": .object([
                "type": .object(["type": .string("string"), "enum": .array([.string("Feature")])]),
                "id": .object(["type": .string("string")]),
                "geometry": .object([
                    "oneOf": .array(
                        ["Point", "MultiPoint"].map {
                            .object(["$ref": .string("https://geojson.org/schema/\($0).json")])
                        })
                ]),
                "properties": .object([
                    "type": .string("object"), "properties": .object(properties),
                ]),
            ]),
        ])
    }

    /// The queryables: a JSON Schema, and the array of ids that GDAL reads.
    func queryables(title: String, address: String) -> JSONValue {
        let predefined = PredefinedField.allCases.map { field in
            JSONValue.Member(field.rawValue, Self.schema(of: [field.type]))
        }
        let named =
            predefined + queryableFields.map { .init($0.path, Self.schema(of: $0.types)) }
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

    private static func schema(of types: [FieldType]) -> JSONValue {
        let present = Set(types).subtracting([.null])
        if present == [.integer] {
            return .object(["type": .string("number"), "multipleOf": .int(1)])
        }
        if present.isSubset(of: [.integer, .decimal]), !present.isEmpty {
            return .object(["type": .string("number")])
        }
        if present.isSubset(of: [.object, .geoPoint]), !present.isEmpty {
            return .object(["type": .string("object")])
        }
        guard present.count == 1, let type = present.first else { return .object([]) }
        let names: [FieldType: String] = [.string: "string", .boolean: "boolean", .array: "array"]
        return .object(["type": .string(names[type]!)])
    }
}

extension PredefinedField {
    fileprivate var type: FieldType {
        switch self {
        case .created, .modified, .version, .expires: .integer
        case .id, .owner, .dataType: .string
        }
    }
}
