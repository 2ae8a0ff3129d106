import JSONText

/// The JSON Schemas of the answers, for the OpenAPI document.
enum DocumentSchemas {
    static let all: [JSONValue.Member] =
        [.init("failure", failure), .init("link", link)]
        + Route.Document.allCases.map { .init($0.rawValue, schema(of: $0)) }

    private static func schema(of document: Route.Document) -> JSONValue {
        switch document {
        case .landingPage:
            object(required: ["links"], ["title": text, "description": text, "links": links])
        case .openAPI, .schema: .object(["type": .string("object")])
        case .conformance: object(required: ["conformsTo"], ["conformsTo": array(of: text)])
        case .collections:
            object(
                required: ["links", "collections"],
                ["links": links, "collections": array(of: reference("collection"))])
        case .collection:
            object(
                required: ["id", "links"],
                [
                    "id": text, "title": text, "description": text, "links": links,
                    "extent": .object(["type": .string("object")]), "itemType": text,
                    "crs": array(of: text),
                ])
        case .features:
            object(
                required: ["type", "features"],
                [
                    "type": one(of: ["FeatureCollection"]),
                    "features": array(of: reference("feature")), "numberMatched": number,
                    "numberReturned": number, "timeStamp": time, "links": links,
                ])
        case .feature:
            object(
                required: ["type", "id", "geometry", "properties"],
                [
                    "type": one(of: ["Feature"]), "id": text, "geometry": geometry,
                    "properties": .object(["type": .string("object")]), "links": links,
                ])
        }
    }

    private static let text = JSONValue.object(["type": .string("string")])
    private static let time = JSONValue.object([
        "type": .string("string"), "format": .string("date-time"),
    ])
    private static let number = JSONValue.object([
        "type": .string("integer"), "minimum": .int(0),
    ])
    private static let links = array(of: reference("link"))
    private static let link = object(
        required: ["href", "rel"], ["href": text, "rel": text, "type": text, "title": text])
    private static let failure = object(
        required: ["errorCode", "message"], ["errorCode": text, "message": text, "path": text])
    private static let geometry = object(
        required: ["type", "coordinates"],
        [
            "type": one(of: ["Point", "MultiPoint"]),
            "coordinates": .object(["type": .string("array"), "items": .object([])]),
        ])

    private static func object(
        required: [String], _ properties: KeyValuePairs<String, JSONValue>
    ) -> JSONValue {
        .object([
            "type": .string("object"), "required": .array(required.map { .string($0) }),
            "properties": .object(properties),
        ])
    }

    private static func array(of items: JSONValue) -> JSONValue {
        .object(["type": .string("array"), "items": items])
    }

    private static func one(of values: [String]) -> JSONValue {
        .object(["type": .string("string"), "enum": .array(values.map { .string($0) })])
    }

    private static func reference(_ name: String) -> JSONValue {
        .object(["$ref": .string("#/components/schemas/\(name)")])
    }
}
