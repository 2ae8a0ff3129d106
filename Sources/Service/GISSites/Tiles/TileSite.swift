import Geodesy
import HTTPTypes
import QueryLanguage
import ServiceDesk
import WebExchange

/// Tiles of a collection and their TileJSON: the paths below `/tiles`.
///
///     GET /tiles/airports/9/454/201.mvt?filter=kind%20%3D%20heliport      a vector tile
///     GET /tiles/airports.json                                            TileJSON
///
/// A tile is one `bucket.clusters` of exactly its cells. Its `ETag` holds what the bucket's objects
/// were called at that moment, so a client that has the tile costs one comparison.
public struct TileSite: Sendable {
    private let operations: any WebOperations
    private let catalog: Catalog

    /// Answers with the operations of a service.
    public init(operations: any WebOperations, catalog: Catalog) {
        (self.operations, self.catalog) = (operations, catalog)
    }

    /// Answers a request.
    public func answer(_ request: WebRequest) async throws(WebFailure) -> WebAnswer {
        let path = request.path
        guard path.first == "tiles" else { throw .notFound }
        let caller = try operations.caller(of: request)
        try operations.permit(caller, reading: nil)
        if path.count == 2, path[1].hasSuffix(".json") {
            try request.check(methods: [.get, .head])
            let collection = try CollectionName(String(path[1].dropLast(".json".count)))
            try operations.permit(caller, reading: collection.bucket)
            return try await describe(collection, request, caller)
        }
        guard path.count == 5, path[4].hasSuffix(".mvt") else { throw .notFound }
        try request.check(methods: [.get, .head])
        let collection = try CollectionName(path[1])
        try operations.permit(caller, reading: collection.bucket)
        let tile = try TileAddress(path[2], path[3], String(path[4].dropLast(".mvt".count)))
        return try await draw(tile, of: collection, request, caller)
    }

    // MARK: Tiles

    private func draw(
        _ tile: TileAddress, of collection: CollectionName, _ request: WebRequest,
        _ caller: Caller
    ) async throws(WebFailure) -> WebAnswer {
        let question = try await question(collection, request, caller)
        let listed = tile.listedObjects(atMost: operations.limits.clusterCells)
        let tag = StateTag(
            of: ["tile", tile.name, String(listed), collection.text] + question.parameters)
        let found = try await ask(
            question.call(
                tile.window(buffer: question.buffer), listed: listed,
                unless: tag.knownState(of: request)), question, from: caller)
        let state = found.state ?? ""
        guard let clusters = found.clusters else { return tag.unchanged(state, for: request) }
        if clusters.isEmpty { try await catalog.check(collection, for: caller) }
        let bytes = try TileEncoder.encode(
            found, of: tile, buffer: question.buffer, withPoints: question.namesFields)
        let answer =
            bytes.isEmpty
            ? WebAnswer(.noContent) : WebAnswer("application/vnd.mapbox-vector-tile", bytes)
        return tag.marking(answer, state, for: request)
    }

    // MARK: TileJSON

    private func describe(
        _ collection: CollectionName, _ request: WebRequest, _ caller: Caller
    ) async throws(WebFailure) -> WebAnswer {
        let question = try await question(collection, request, caller)
        let tag = StateTag(
            of: ["tilejson", request.base, collection.text] + question.parameters)
        var (extent, state, change): (CellExtent?, String, UInt64) = (nil, "", 0)
        // Coarse cells of the world first, then finer ones of the part that has objects.
        while extent?.isCoarse ?? true {
            let former = extent
            let call =
                if let former {
                    question.call(former.finerWindow).atLeast(change)
                } else {
                    question.call(
                        GridWindow(level: 5), unless: tag.knownState(of: request))
                }
            let found = try await ask(call, question, from: caller)
            if former == nil { (state, change) = (found.state ?? "", found.change) }
            guard let clusters = found.clusters else {
                return tag.unchanged(state, for: request)
            }
            if clusters.isEmpty { try await catalog.check(collection, for: caller) }
            guard let next = CellExtent(found) ?? former else { break }
            extent = next
        }
        let fields = try await operations.ask(
            .fields(of: collection.bucket).atLeast(change), from: caller)
        let description = TileDescription(collection, question, extent: extent, base: request.base)
        let answer = WebAnswer("application/json", description.json(fields: fields))
        return tag.marking(answer, state, for: request)
    }

    // MARK: Calls

    private func question(
        _ collection: CollectionName, _ request: WebRequest, _ caller: Caller
    ) async throws(WebFailure) -> ClusterQuestion {
        try request.check(ClusterQuestion.names)
        let clause = try await catalog.clause(
            request.requestedQuery(), of: collection, for: caller)
        return try ClusterQuestion(collection, of: request, clause)
    }

    private func ask(
        _ call: TypedCall<ClusterAnswer>, _ question: ClusterQuestion, from caller: Caller
    ) async throws(WebFailure) -> ClusterAnswer {
        do throws(WebFailure) {
            return try await operations.ask(call, from: caller)
        } catch {
            var failure = error
            failure.path = failure.path.map(question.path)
            throw failure
        }
    }
}
