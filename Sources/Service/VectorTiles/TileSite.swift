import HTTPTypes
import JSONText
import Operations
import QueryLanguage
import WebExchange
import Wire

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
        let found = try await ask(question, from: caller) { writer in
            tile.write(buffer: question.buffer, to: &writer)
            writer.key("objects")
            writer.integer(listed)
            writer.key("ifState")
            writer.string(tag.knownState(of: request))
        }
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
            let found = try await ask(question, from: caller) { writer in
                if let former {
                    former.writeFiner(to: &writer)
                    writer.key("atLeast")
                    writer.integer(change)
                } else {
                    writer.raw(#","zoom":0,"bits":5,"ifState":"#)
                    writer.string(tag.knownState(of: request))
                }
            }
            if former == nil { (state, change) = (found.state ?? "", found.change) }
            guard let clusters = found.clusters else {
                return tag.unchanged(state, for: request)
            }
            if clusters.isEmpty { try await catalog.check(collection, for: caller) }
            guard let next = CellExtent(found) ?? former else { break }
            extent = next
        }
        let fields = try await operations.ask(.fields, from: caller) { params in
            params.raw("{\"bucket\":")
            params.string(collection.bucket.text)
            params.key("atLeast")
            params.integer(change)
            params.byte(UInt8(ascii: "}"))
        }
        let description = TileDescription(collection, question, extent: extent, base: request.base)
        let bytes = try operations.reading(fields) { description.json(fields: $0["fields"]) }
        return tag.marking(WebAnswer("application/json", bytes), state, for: request)
    }

    // MARK: Calls

    private func question(
        _ collection: CollectionName, _ request: WebRequest, _ caller: Caller
    ) async throws(WebFailure) -> ClusterQuestion {
        try request.check(ClusterQuestion.names)
        let query = try await catalog.bucketQuery(
            request.requestedQuery(), of: collection, for: caller)
        return try ClusterQuestion(collection, of: request, query)
    }

    /// Asks for clusters with further params.
    private func ask(
        _ question: ClusterQuestion, from caller: Caller,
        _ more: (inout JSONWriter) -> Void
    ) async throws(WebFailure) -> ClusterAnswer {
        do throws(RPCFailure) {
            return try await operations.clusters(question.params(more), from: caller)
        } catch {
            var failure = WebFailure(error)
            failure.path = failure.path.map(question.path)
            throw failure
        }
    }
}
