import JSONText
import WebExchange

/// The documents that do not depend on what is stored.
extension FeatureExchange {
    func landingPage() -> WebAnswer {
        let document = JSONValue.object([
            "title": .string("GeoBucket"),
            "description": .string("The buckets of this service as collections of features."),
            "links": .array([
                .link("self", MediaType.json, "This document", address()),
                .link("service-desc", MediaType.openAPI, "The API", address("/api")),
                .link(
                    "conformance", MediaType.json, "The classes of requirements that are met",
                    address("/conformance")),
                .link(
                    Self.conformanceRelation, MediaType.json,
                    "The classes of requirements that are met", address("/conformance")),
                .link("data", MediaType.json, "The collections", address("/collections")),
            ]),
        ])
        return WebAnswer(MediaType.json, document.utf8)
    }

    private static let conformanceRelation =
        "http://www.opengis.net/def/rel/ogc/1.0/conformance"

    func conformance() -> WebAnswer {
        let document = JSONValue.object(["conformsTo": .array(Self.classes.map { .string($0) })])
        return WebAnswer(MediaType.json, document.utf8)
    }

    private static let classes =
        ["core", "oas30", "geojson"].map {
            "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/\($0)"
        }
        + ["filter", "features-filter", "queryables"].map {
            "http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/\($0)"
        }
        + [
            "cql2-text", "basic-cql2", "advanced-comparison-operators", "basic-spatial-functions",
        ].map { "http://www.opengis.net/spec/cql2/1.0/conf/\($0)" }

    func apiDocument() -> WebAnswer {
        WebAnswer(MediaType.openAPI, OpenAPIDocument(root: address()).value.utf8)
    }
}
