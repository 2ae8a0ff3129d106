import HTTPTypes
import JSONText
import Objects
import QueryLanguage
import ServiceDesk
import WebExchange

/// The features of a collection, and each by itself.
extension FeatureExchange {
    func items() async throws(WebFailure) -> WebAnswer {
        let name = try collectionName()
        var shape = try await site.catalog.shape(of: name, for: caller, isRecent: true)
        let limits = site.operations.limits
        let properties = ItemsQuery.properties(of: request)
        let known = properties.isEmpty ? [] : shape.queryableNames
        if !properties.allSatisfy({ known.contains(Array($0.name.utf8)) }) {
            // Perhaps some object has had the field since.
            shape = try await site.catalog.shape(of: name, for: caller)
        }
        let query: ItemsQuery
        do throws(WebFailure) {
            query = try ItemsQuery(request, shape, limits)
        } catch let failure where failure.path == "filter" {
            // Perhaps some object has had the place since.
            let geoFields = try await site.operations.geoFields(of: name.bucket, for: caller)
            shape = try shape.having(geoFields, as: name)
            query = try ItemsQuery(request, shape, limits)
        }
        let pages = FeaturePages(exchange: self, name: name, shape: shape, query: query)
        let first = try await pages.page(after: query.key, atMost: query.limit)
        // The number of what is returned is that of what matches if it begins and ends here.
        let isWhole = query.key == nil && first.nextKey == nil
        let matched = isWhole ? first.count : try await pages.matched()
        var answer = WebAnswer(featureTypes.own, [])
        if first.nextKey == nil || first.count >= query.limit {
            var writer = JSONWriter(reserving: first.features.count + 2_000)
            writer.raw(FeaturePages.head)
            writer.raw(first.features)
            pages.writeTail(
                returned: first.count, matched: matched, nextKey: first.nextKey, to: &writer)
            answer.body = .whole(writer.bytes)
            let links = pages.links(first.nextKey).map { String(decoding: $0.utf8, as: UTF8.self) }
            return answer.marked(
                digest(
                    of: [digest(of: first.features), String(matched), featureTypes.own] + links),
                for: request)
        } else {
            answer.body = .streamed { try await pages.write(from: first, matched: matched, to: $0) }
        }
        return answer
    }

    func item() async throws(WebFailure) -> WebAnswer {
        let name = try collectionName()
        let shape = try await site.catalog.shape(of: name, for: caller, isRecent: true)
        let id: ObjectID
        do throws(ServiceFailure) {
            id = try ObjectID(arguments["featureId"] ?? "", at: "featureId")
        } catch {
            throw Self.noSuchFeature
        }
        let object = try await site.operations.ask(.get(id, in: name.bucket), from: caller)
        let links = JSONValue.array([
            .link("self", featureTypes.own, "This feature", ownAddress()),
            .link(
                "alternate", featureTypes.other, "This feature as another type", ownAddress()),
            .link("collection", MediaType.json, "The collection", address(of: name)),
        ])
        let feature = try site.operations.reading(own: object) { view -> [UInt8]? in
            let value = shape.geoField.value(in: view)
            guard let value, !GeoPoint.coordinates(of: value).isEmpty else { return nil }
            var writer = JSONWriter(reserving: object.count + 1_000)
            var features = shape.featureWriter
            features.write(unclosed: view, to: &writer)
            writer.key("links")
            links.write(to: &writer)
            writer.raw("}")
            return writer.bytes
        }
        guard let feature else { throw Self.noSuchFeature }
        return WebAnswer(featureTypes.own, feature)
    }

    /// The media type of the answer, and the other one in which the request could have it.
    fileprivate var featureTypes: (own: String, other: String) {
        asksForPlainJSON(insteadOf: MediaType.geoJSON)
            ? (MediaType.json, MediaType.geoJSON) : (MediaType.geoJSON, MediaType.json)
    }

    private static let noSuchFeature = WebFailure(
        .notFound, "OBJECT_NOT_FOUND", "there is no such feature")
}

/// The pages of the protocol that one answer's features come from.
struct FeaturePages: Sendable {
    let exchange: FeatureExchange
    let name: CollectionName
    let shape: CollectionShape
    let query: ItemsQuery

    /// Some features, ready to be sent.
    struct Page: Sendable {
        /// Each on a line, with commas between them.
        var features: [UInt8]
        var count: Int
        /// Where the next page begins; nil at the end of what matches.
        var nextKey: String?
    }

    static let head: StaticString = "{\"type\":\"FeatureCollection\",\"features\":["

    func page(after key: String?, atMost limit: Int) async throws(WebFailure) -> Page {
        let page = Query(
            clause: query.clause,
            limit: min(limit, exchange.site.operations.limits.pageObjects), paginationKey: key)
        let found = try await ask(.find(page, in: name.bucket))
        return try exchange.site.operations.reading(own: found.objects) { objects in
            var writer = JSONWriter(reserving: found.objects.count + found.objects.count / 2)
            var features = shape.featureWriter
            var count = 0
            for object in objects.elements {
                writer.raw(count == 0 ? "\n" : ",\n")
                features.write(unclosed: object, to: &writer)
                writer.raw("}")
                count += 1
            }
            return Page(
                features: writer.bytes, count: count, nextKey: found.nextPaginationKey)
        }
    }

    /// How many features match.
    func matched() async throws(WebFailure) -> Int {
        try await ask(.count(query.clause, in: name.bucket))
    }

    /// Writes an answer that begins with a page, and holds one page at a time.
    func write(from first: Page, matched: Int, to sink: any WebBodyWriter) async throws {
        var page = first
        var returned = page.count
        try await sink.write(Array("\(Self.head)".utf8) + page.features)
        while let key = page.nextKey, returned < query.limit {
            page = try await self.page(after: key, atMost: query.limit - returned)
            returned += page.count
            // Everything behind the last page may have been deleted since.
            if page.count > 0 { try await sink.write([UInt8(ascii: ",")] + page.features) }
        }
        var writer = JSONWriter()
        writeTail(returned: returned, matched: matched, nextKey: page.nextKey, to: &writer)
        try await sink.write(writer.bytes)
    }

    /// Everything behind the features.
    ///
    /// - Parameter matched: what was counted before; writes in the meantime may have added to it.
    func writeTail(
        returned: Int, matched: Int, nextKey: String?, to writer: inout JSONWriter
    ) {
        let isWhole = query.key == nil && nextKey == nil
        writer.raw("\n]")
        writer.key("numberMatched")
        writer.integer(isWhole ? returned : max(matched, returned + (nextKey == nil ? 0 : 1)))
        writer.key("numberReturned")
        writer.integer(returned)
        writer.key("timeStamp")
        writer.string(TimeSpan.text(ofMillisecond: exchange.site.now()))
        writer.key("links")
        JSONValue.array(links(nextKey)).write(to: &writer)
        writer.raw("}")
    }

    func links(_ nextKey: String?) -> [JSONValue] {
        let (own, types) = (exchange.ownAddress(), exchange.featureTypes)
        var links: [JSONValue] = [
            .link("self", types.own, "This page", own),
            .link("alternate", types.other, "This page as another type", own),
        ]
        if let nextKey {
            let next = exchange.ownAddress(with: ("key", nextKey))
            links.append(.link("next", MediaType.geoJSON, "The next page", next))
        }
        links.append(
            .link(
                "collection", MediaType.json, "The collection", exchange.address(of: name)))
        return links
    }

    private func ask<Reply>(_ call: TypedCall<Reply>) async throws(WebFailure) -> Reply {
        do throws(WebFailure) {
            return try await exchange.site.operations.ask(call, from: exchange.caller)
        } catch {
            // What is at fault by the names of the request's own parameters.
            var failure = error
            if let path = failure.path, exchange.request["filter"] != nil,
                path.hasPrefix("bucketQuery")
            {
                failure.path = "filter"
            }
            if failure.path == "paginationKey" { failure.path = "key" }
            throw failure
        }
    }
}
