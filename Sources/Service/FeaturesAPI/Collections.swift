import Geodesy
import JSONText
import Objects
import WebExchange
import Wire

/// The list of collections, and each by itself.
extension FeatureExchange {
    /// All collections that the caller reaches: those of the application's buckets, and of the
    /// caller's own. Further ones are found by their names.
    func collections() async throws(WebFailure) -> WebAnswer {
        var values: [JSONValue] = []
        for scope in ownScopes {
            var key: String?
            repeat {
                let page = try await buckets(of: scope, after: key)
                for bucket in page.buckets {
                    for (index, field) in bucket.geoFields.enumerated() {
                        let name = CollectionName(
                            bucket.name, field: index == 0 ? nil : FieldPath(field))
                        values.append(try await description(of: name, FieldPath(field)))
                    }
                }
                key = page.next
            } while key != nil
        }
        let document = JSONValue.object([
            "links": .array([
                .link("self", MediaType.json, "This document", address("/collections"))
            ]),
            "collections": .array(values),
        ])
        return WebAnswer(MediaType.json, document.utf8)
    }

    /// The application's scope and those that belong to the caller.
    private var ownScopes: [BucketScope] {
        guard let grant = caller.grant else { return [.application] }
        let names = ["users/" + grant.principal] + grant.groups.sorted().map { "groups/" + $0 }
        let scopes = names.filter { name in
            grant.holdsFor?.contains { $0 == name || $0.hasPrefix(name + "/") } ?? true
        }
        return [.application] + scopes.compactMap { try? BucketScope($0, at: "scope") }
    }

    func collection() async throws(WebFailure) -> WebAnswer {
        let name = try collectionName()
        let field = try Self.geoField(of: name, among: try await geoFields(of: name.bucket))
        return WebAnswer(MediaType.json, try await description(of: name, field).utf8)
    }

    private func description(
        of name: CollectionName, _ field: FieldPath
    ) async throws(WebFailure) -> JSONValue {
        let schema = address(of: name, "/schema")
        let queryables = address(of: name, "/queryables")
        let queryablesTitle = "The properties that filters may name"
        var members: [JSONValue.Member] = [
            .init("id", .string(name.text)), .init("title", .string(name.text)),
            .init(
                "description",
                .string("The objects of \(name.bucket.text) that have a place in \(field.text).")),
            .init("itemType", .string("feature")),
            .init("crs", .array([.string(ItemsQuery.crs84)])),
        ]
        if let extent = try await extent(of: name.bucket, field) {
            members.append(.init("extent", extent))
        }
        members.append(
            .init(
                "links",
                .array([
                    .link("self", MediaType.json, "This collection", address(of: name)),
                    .link("items", MediaType.geoJSON, "The features", address(of: name, "/items")),
                    // GDAL compares letter by letter, others know the registered spelling.
                    .link("describedBy", MediaType.schema, "The schema of a feature", schema),
                    .link("describedby", MediaType.schema, "The schema of a feature", schema),
                    .link("queryables", MediaType.json, queryablesTitle, queryables),
                    .link(
                        "http://www.opengis.net/def/rel/ogc/1.0/queryables", MediaType.schema,
                        queryablesTitle, queryables),
                ])))
        return .object(members)
    }

    func schema() async throws(WebFailure) -> WebAnswer {
        let name = try collectionName()
        let shape = try await shape(of: name)
        return schemaAnswer(
            shape.schema(title: name.text, address: address(of: name, "/schema")))
    }

    func queryables() async throws(WebFailure) -> WebAnswer {
        let name = try collectionName()
        let shape = try await shape(of: name)
        return schemaAnswer(
            shape.queryables(title: name.text, address: address(of: name, "/queryables")))
    }

    private func schemaAnswer(_ document: JSONValue) -> WebAnswer {
        let isPlain = asksForPlainJSON(insteadOf: MediaType.schema)
        return WebAnswer(isPlain ? MediaType.json : MediaType.schema, document.utf8)
    }
}
