import HTTPTypes
import JSONText
import WebExchange

/// OGC API Features: the paths below `/ogc`, as GIS programs ask for them.
///
///     /ogc/collections/airports/items?bbox=139,35,140,36&filter=runway_m >= 2500
///
/// A collection has the objects of a bucket that hold a geo field. What is answered comes from the
/// methods of the protocol; this adds GeoJSON, links, the schema, and filters in CQL2.
///
/// - Reference: OGC 17-069r4, "OGC API - Features, Part 1: Core"; OGC 19-079r2, "Part 3: Filtering".
public struct FeaturesSite: Sendable {
    let operations: any WebOperations
    /// Milliseconds since 1970.
    let now: @Sendable () -> Int64
    let catalog: Catalog
    let extents = ExtentCache()

    /// Answers with the operations of a service.
    ///
    /// - Parameter now: milliseconds since 1970.
    public init(
        operations: any WebOperations, catalog: Catalog, now: @escaping @Sendable () -> Int64
    ) {
        (self.operations, self.catalog, self.now) = (operations, catalog, now)
    }

    /// Answers a request whose path begins with `ogc`.
    public func answer(_ request: WebRequest) async throws(WebFailure) -> WebAnswer {
        do throws(WebFailure) {
            return try await routed(request)
        } catch {
            // GIS programs can send a token as the password of Basic alone.
            var failure = error
            if failure.status == .unauthorized {
                failure.headers[values: .wwwAuthenticate] = [
                    #"Basic realm="geobucket", charset="UTF-8""#, #"Bearer realm="geobucket""#,
                ]
            }
            throw failure
        }
    }

    private func routed(_ request: WebRequest) async throws(WebFailure) -> WebAnswer {
        var path = request.path.dropFirst()
        if path.last == "" { path.removeLast() }
        guard let (route, arguments) = Route.matching(path) else { throw .notFound }
        try request.check(methods: [.get, .head])
        let exchange = FeatureExchange(
            site: self, request: request, caller: try operations.caller(of: request),
            route: route, arguments: arguments)
        if route.path.hasPrefix("/collections") {
            try operations.permit(exchange.caller, reading: nil)
        }
        if arguments["collectionId"] != nil {
            try operations.permit(exchange.caller, reading: exchange.collectionName().bucket)
        }
        try exchange.checkParameters()
        let answer = try await route.answer(exchange)
        // A list of features tells the time.
        guard answer.headers[.eTag] == nil, let bytes = answer.bytes, answer.status == .ok else {
            return answer
        }
        return answer.marked(digest(of: bytes), for: request)
    }
}

/// Media types of answers.
enum MediaType {
    static let json = "application/json"
    static let geoJSON = "application/geo+json"
    static let schema = "application/schema+json"
    static let openAPI = "application/vnd.oai.openapi+json;version=3.0"
}
