import JSONText
import WebExchange

/// A path below `/ogc` with all that is known of it: what it takes, what it answers.
///
/// The table is what requests are matched with, and what the OpenAPI document tells.
struct Route: Sendable {
    /// The path below `/ogc`, with names in braces for what varies.
    let path: String
    /// OpenAPI's `operationId`.
    let id: String
    let summary: String
    var parameters: [QueryParameter] = []
    /// Whether properties of the collection are parameters too.
    var takesProperties = false
    /// The media types of the answer.
    var types = [MediaType.json]
    /// What kind of document the answer is, for the OpenAPI document.
    let document: Document
    let answer: @Sendable (FeatureExchange) async throws(WebFailure) -> WebAnswer

    enum Document: String, CaseIterable {
        case landingPage, openAPI, conformance, collections, collection, schema, features, feature
    }

    static let all = [
        Route(
            path: "", id: "getLandingPage", summary: "The landing page", document: .landingPage
        ) { (exchange) throws(WebFailure) in exchange.landingPage() },
        Route(
            path: "/api", id: "getAPI", summary: "This document", types: [MediaType.openAPI],
            document: .openAPI
        ) { (exchange) throws(WebFailure) in exchange.apiDocument() },
        Route(
            path: "/conformance", id: "getConformance",
            summary: "The classes of requirements that are met", document: .conformance
        ) { (exchange) throws(WebFailure) in exchange.conformance() },
        Route(
            path: "/collections", id: "getCollections",
            summary: "The collections: the geo fields of the buckets, page by page",
            parameters: QueryParameter.ofCollections, document: .collections
        ) { (exchange) throws(WebFailure) in try await exchange.collections() },
        Route(
            path: "/collections/{collectionId}", id: "getCollection", summary: "A collection",
            document: .collection
        ) { (exchange) throws(WebFailure) in try await exchange.collection() },
        Route(
            path: "/collections/{collectionId}/schema", id: "getSchema",
            summary: "The JSON Schema of a collection's features",
            types: [MediaType.schema, MediaType.json], document: .schema
        ) { (exchange) throws(WebFailure) in try await exchange.schema() },
        Route(
            path: "/collections/{collectionId}/queryables", id: "getQueryables",
            summary: "The properties that filters and parameters may name",
            types: [MediaType.schema, MediaType.json], document: .schema
        ) { (exchange) throws(WebFailure) in try await exchange.queryables() },
        Route(
            path: "/collections/{collectionId}/items", id: "getFeatures",
            summary: "The features of a collection that meet all conditions, page by page",
            parameters: QueryParameter.ofItems, takesProperties: true,
            types: [MediaType.geoJSON, MediaType.json], document: .features
        ) { (exchange) throws(WebFailure) in try await exchange.items() },
        Route(
            path: "/collections/{collectionId}/items/{featureId}", id: "getFeature",
            summary: "A feature", types: [MediaType.geoJSON, MediaType.json], document: .feature
        ) { (exchange) throws(WebFailure) in try await exchange.item() },
    ]

    /// The names in braces, in the order of the path.
    var places: [String] {
        segments.filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
    }

    private var segments: [Substring] { path.split(separator: "/") }

    /// The route of a path, and what stands in its places.
    static func matching(_ path: ArraySlice<String>) -> (Route, [String: String])? {
        for route in all {
            let segments = route.segments
            guard segments.count == path.count,
                zip(segments, path).allSatisfy({ $0.hasPrefix("{") || $0 == $1 })
            else { continue }
            let values = zip(segments, path).filter { $0.0.hasPrefix("{") }.map(\.1)
            return (route, Dictionary(uniqueKeysWithValues: zip(route.places, values)))
        }
        return nil
    }
}

/// A parameter of a query, as the OpenAPI document tells it.
struct QueryParameter: Sendable {
    let name: String
    let description: String
    let schema: JSONValue
    /// The name of its component in the OpenAPI document, if it is another.
    var component: String?

    static let ofCollections = [
        QueryParameter(
            name: "limit",
            description:
                "The most collections of one answer. More than the maximum is the maximum.",
            schema: .object([
                "type": .string("integer"), "minimum": .int(1),
                "maximum": .int(PageLimit.maximumCollections),
                "default": .int(PageLimit.usualCollections),
            ]), component: "collectionsLimit"),
        QueryParameter(
            name: "key", description: "Where the page begins, from the link to the next page.",
            schema: .object(["type": .string("string")]), component: "collectionsKey"),
    ]

    static let limit = QueryParameter(
        name: "limit",
        description: "The most features of one answer. More than the maximum is the maximum.",
        schema: .object([
            "type": .string("integer"), "minimum": .int(1),
            "maximum": .int(ItemsQuery.maximumLimit), "default": .int(ItemsQuery.usualLimit),
        ]))

    static let ofItems = [
        limit,
        QueryParameter(
            name: "bbox",
            description:
                "West, south, east, north in degrees (or with heights, which are ignored). "
                + "A west greater than the east crosses the antimeridian.",
            schema: .object([
                "type": .string("array"), "items": .object(["type": .string("number")]),
                "minItems": .int(4), "maxItems": .int(6),
                "oneOf": .array(
                    [4, 6].map { .object(["minItems": .int($0), "maxItems": .int($0)]) }),
            ])),
        QueryParameter(
            name: "datetime",
            description:
                "An instant or an interval (RFC 3339, with `..` or nothing for an open end) "
                + "in which the feature was last changed.",
            schema: .object(["type": .string("string")])),
        QueryParameter(
            name: "filter", description: "A condition in the text form of CQL2.",
            schema: .object(["type": .string("string")])),
        QueryParameter(
            name: "filter-lang",
            description: "The language of the filter; the first two names mean CQL2.",
            schema: .object([
                "type": .string("string"),
                "enum": .array(FilterLanguage.allCases.map { .string($0.rawValue) }),
                "default": .string(FilterLanguage.cql2.rawValue),
            ])),
        QueryParameter(
            name: "filter-crs", description: "The reference system of the filter's geometries.",
            schema: .object([
                "type": .string("string"), "format": .string("uri"),
                "enum": .array([.string(ItemsQuery.crs84)]), "default": .string(ItemsQuery.crs84),
            ])),
        QueryParameter(
            name: "key", description: "Where the page begins, from the link to the next page.",
            schema: .object(["type": .string("string")])),
    ]
}
