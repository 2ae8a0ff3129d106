import JSONText
import ServiceDesk

/// The OpenAPI 3.0 document of the routes.
struct OpenAPIDocument {
    /// The address of `/ogc`.
    let root: String

    var value: JSONValue {
        .object([
            "openapi": .string("3.0.3"),
            "info": .object([
                "title": .string("GeoBucket: OGC API Features"),
                "description": .string("The buckets of this service as collections of features."),
                "version": .string(QueryService.version),
            ]),
            "servers": .array([.object(["url": .string(root)])]),
            "security": .array([
                .object([]), .object(["basic": .array([])]), .object(["bearer": .array([])]),
            ]),
            "paths": .object(
                Route.all.map {
                    .init($0.path.isEmpty ? "/" : $0.path, .object(["get": operation($0)]))
                }),
            "components": .object([
                "parameters": .object(parameters),
                "responses": .object(Self.failures.map { .init($0.name, failure($0.description)) }),
                "schemas": .object(DocumentSchemas.all),
                "securitySchemes": .object([
                    "basic": .object(["type": .string("http"), "scheme": .string("basic")]),
                    "bearer": .object(["type": .string("http"), "scheme": .string("bearer")]),
                ]),
            ]),
        ])
    }

    private func operation(_ route: Route) -> JSONValue {
        var parameters = route.places + route.parameters.map { $0.component ?? $0.name }
        if route.takesProperties { parameters.append(Self.properties) }
        let schema = Self.reference("schemas", route.document.rawValue)
        let content = route.types.map {
            JSONValue.Member($0, .object(["schema": schema]))
        }
        var responses = [
            JSONValue.Member(
                "200",
                .object([
                    "description": .string(route.summary + "."), "content": .object(content),
                ]))
        ]
        for failure in Self.failures where !failure.isOfPlace || !route.places.isEmpty {
            responses.append(.init(failure.status, Self.reference("responses", failure.name)))
        }
        return .object([
            "operationId": .string(route.id), "summary": .string(route.summary),
            "parameters": .array(parameters.map { Self.reference("parameters", $0) }),
            "responses": .object(responses),
        ])
    }

    private static func reference(_ kind: String, _ name: String) -> JSONValue {
        .object(["$ref": .string("#/components/\(kind)/\(name)")])
    }

    // MARK: Parameters

    /// The name of the component for parameters that are properties of a collection.
    private static let properties = "properties"

    private var parameters: [JSONValue.Member] {
        let ofPaths = [
            (
                "collectionId",
                "The id of a collection: a bucket's name, with `~` for `/`, and perhaps "
                    + "`@` and a geo field other than its place."
            ),
            ("featureId", "The id of a feature: the `_id` of an object."),
        ].map { name, description in
            JSONValue.Member(
                name,
                .object([
                    "name": .string(name), "in": .string("path"), "required": .bool(true),
                    "description": .string(description),
                    "schema": .object(["type": .string("string")]),
                ]))
        }
        var seen: Set<String> = []
        let ofQueries = Route.all.flatMap(\.parameters)
            .filter { seen.insert($0.component ?? $0.name).inserted }
            .map { parameter in
                JSONValue.Member(
                    parameter.component ?? parameter.name,
                    .object([
                        "name": .string(parameter.name), "in": .string("query"),
                        "required": .bool(false), "description": .string(parameter.description),
                        "style": .string("form"), "explode": .bool(false),
                        "schema": parameter.schema,
                    ]))
            }
        let ofProperties = JSONValue.Member(
            Self.properties,
            .object([
                "name": .string(Self.properties), "in": .string("query"), "required": .bool(false),
                "description": .string(
                    "Each of the collection's queryables is a parameter: features whose property has "
                        + "this value."),
                "style": .string("form"), "explode": .bool(true),
                "schema": .object([
                    "type": .string("object"),
                    "additionalProperties": .object(["type": .string("string")]),
                ]),
            ]))
        return ofPaths + ofQueries + [ofProperties]
    }

    // MARK: Failures

    /// What a request may fail by.
    private struct Failure {
        let status: String
        let name: String
        let description: String
        /// Whether only paths with places fail so.
        var isOfPlace = false
    }

    private static let failures = [
        Failure(status: "400", name: "invalid", description: "The request is not valid."),
        Failure(
            status: "401", name: "unauthorized",
            description: "A login is required, or the token is not valid."),
        Failure(
            status: "403", name: "notAllowed", description: "The login does not permit this."),
        Failure(
            status: "404", name: "notFound",
            description: "There is no such collection or feature.", isOfPlace: true),
        Failure(
            status: "429", name: "tooManyRequests",
            description: "Too many requests; `Retry-After` says when to go on."),
        Failure(
            status: "503", name: "unavailable",
            description: "The service cannot answer for the moment."),
    ]

    private func failure(_ description: String) -> JSONValue {
        .object([
            "description": .string(description),
            "content": .object([
                "application/json": .object(["schema": Self.reference("schemas", "failure")])
            ]),
        ])
    }
}
