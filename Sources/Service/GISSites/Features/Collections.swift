import Geodesy
import JSONText
import Objects
import QueryLanguage
import ServiceDesk
import WebExchange
import Wire

/// The list of collections, and each by itself.
extension FeatureExchange {
    /// The collections that the caller reaches, page by page: those of the application's buckets, and
    /// of the caller's own. Further ones are found by their names.
    func collections() async throws(WebFailure) -> WebAnswer {
        let limit = try request["limit"].map { text throws(WebFailure) in
            try PageLimit.number(text, atMost: PageLimit.maximumCollections)
        }
        let last = try request["key"].map { key throws(WebFailure) in
            try CollectionName(key, at: "key")
        }
        let (names, isWhole) = try await names(
            after: last, atMost: limit ?? PageLimit.usualCollections)
        var values: [JSONValue] = []
        for (name, field) in names { values.append(try await description(of: name, field)) }
        var links: [JSONValue] = [.link("self", MediaType.json, "This document", ownAddress())]
        if !isWhole, let last = names.last {
            let next = ownAddress(with: ("key", last.name.text))
            links.append(.link("next", MediaType.json, "The next collections", next))
        }
        let document = JSONValue.object([
            "links": .array(links), "collections": .array(values),
        ])
        return WebAnswer(MediaType.json, document.utf8)
    }

    private typealias Listed = (name: CollectionName, field: FieldPath)

    /// The next collections, by scope, bucket and field, without those whose field has a longer path
    /// than `FieldSurvey` lists.
    private func names(
        after last: CollectionName?, atMost limit: Int
    ) async throws(WebFailure) -> (names: [Listed], isWhole: Bool) {
        var names: [Listed] = []
        let scopes = ownScopes
        guard let first = scopes.firstIndex(of: last?.bucket.scope ?? .application) else {
            throw .invalid("it is no key of a page of these collections", at: "key")
        }
        for scope in scopes[first...] {
            var behind = scope == last?.bucket.scope ? last?.bucket.preceding : nil
            repeat {
                let page = try await site.operations.ask(
                    .buckets(of: scope, after: behind), from: caller)
                for bucket in page.buckets {
                    for collection in bucket.collections(after: last) {
                        if names.count == limit { return (names, false) }
                        names.append(collection)
                    }
                }
                behind = page.next
            } while behind != nil
        }
        return (names, true)
    }

    /// The application's scope and those that belong to the caller.
    private var ownScopes: [BucketScope] {
        guard let grant = caller.grant else { return [.application] }
        let names = ["users/" + grant.principal] + grant.groups.sorted().map { "groups/" + $0 }
        return [.application]
            + names.compactMap { try? BucketScope($0, at: "scope") }.filter(grant.reaches)
    }

    func collection() async throws(WebFailure) -> WebAnswer {
        let name = try collectionName()
        let field = try await site.operations.geoFields(of: name.bucket, for: caller)
            .field(of: name)
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
        let shape = try await site.catalog.shape(of: name, for: caller)
        return schemaAnswer(
            shape.schema(title: name.text, address: address(of: name, "/schema")))
    }

    func queryables() async throws(WebFailure) -> WebAnswer {
        let name = try collectionName()
        let shape = try await site.catalog.shape(of: name, for: caller)
        return schemaAnswer(
            shape.queryables(title: name.text, address: address(of: name, "/queryables")))
    }

    private func schemaAnswer(_ document: JSONValue) -> WebAnswer {
        let isPlain = asksForPlainJSON(insteadOf: MediaType.schema)
        return WebAnswer(isPlain ? MediaType.json : MediaType.schema, document.utf8)
    }
}

extension ListedBucket {
    /// Its collections that come behind another in the list of all: first its place, under the bucket's
    /// own name, then every geo field under its name.
    fileprivate func collections(
        after last: CollectionName?
    ) -> [(name: CollectionName, field: FieldPath)] {
        let place = geoFields.place.map { (CollectionName(name), $0) }
        let fields = geoFields.all.map { (CollectionName(name, field: $0), $0) }
        return ((place.map { [$0] } ?? []) + fields).filter { collection, field in
            guard field.utf8.count <= FieldSurvey.pathBytes else { return false }
            guard let last, last.bucket.scope == name.scope else { return true }
            guard last.bucket == name else { return last.bucket < name }
            // The place has no field in its name.
            guard let former = last.field else { return collection.field != nil }
            return former.utf8.lexicographicallyPrecedes(field.utf8)
        }
    }
}

/// How many entries a page has.
enum PageLimit {
    static let usualCollections = 100
    static let maximumCollections = 1_000

    /// The number in a parameter `limit`; more than the maximum is the maximum.
    static func number(_ text: String, atMost maximum: Int) throws(WebFailure) -> Int {
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) }
        guard isNumber, text.utf8.contains(where: { $0 != 48 }) else {
            throw .invalid("expected a whole number from 1 to \(maximum)", at: "limit")
        }
        // Digits that are no `Int` are many.
        return min(Int(text) ?? .max, maximum)
    }
}
