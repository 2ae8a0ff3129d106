import HTTPTypes
import JSONText
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

    /// Answers with the operations of a service.
    public init(operations: any WebOperations) { self.operations = operations }

    /// Answers a request.
    public func answer(_ request: WebRequest) async throws(WebFailure) -> WebAnswer {
        let path = request.path
        guard path.first == "tiles" else { throw .notFound }
        if path.count == 2, path[1].hasSuffix(".json") {
            try request.check(methods: [.get, .head])
            let collection = try CollectionName(String(path[1].dropLast(".json".count)))
            return try await describe(collection, request)
        }
        guard path.count == 5, path[4].hasSuffix(".mvt") else { throw .notFound }
        try request.check(methods: [.get, .head])
        let tile = try TileAddress(path[2], path[3], String(path[4].dropLast(".mvt".count)))
        return try await draw(tile, of: try CollectionName(path[1]), request)
    }

    // MARK: Tiles

    private func draw(
        _ tile: TileAddress, of collection: CollectionName, _ request: WebRequest
    ) async throws(WebFailure) -> WebAnswer {
        let question = try ClusterQuestion(collection, of: request)
        let listed = tile.listedObjects(atMost: operations.limits.clusterCells)
        let tag = StateTag(
            of: ["tile", tile.name, String(listed), collection.text] + question.parameters)
        let result = try await ask(question, from: request) { writer in
            writer.key("tile")
            writer.string(tile.name)
            writer.key("bits")
            writer.integer(TileAddress.bits)
            writer.key("objects")
            writer.integer(listed)
            writer.key("ifState")
            writer.string(tag.knownState(of: request))
        }
        return try Self.reading(result) { result throws(WebFailure) in
            let state = result["state"]?.string ?? ""
            guard let clusters = result["clusters"] else { return tag.unchanged(state) }
            let bytes = try TileEncoder.encode(
                clusters, of: tile, withPoints: question.namesFields)
            let answer =
                bytes.isEmpty
                ? WebAnswer(.noContent) : WebAnswer("application/vnd.mapbox-vector-tile", bytes)
            return tag.marking(answer, state, for: request)
        }
    }

    // MARK: TileJSON

    private func describe(
        _ collection: CollectionName, _ request: WebRequest
    ) async throws(WebFailure) -> WebAnswer {
        let question = try ClusterQuestion(collection, of: request)
        let tag = StateTag(
            of: ["tilejson", request.base, collection.text] + question.parameters)
        var (extent, state, change): (CellExtent?, String, Int) = (nil, "", 0)
        // Coarse cells of the world first, then finer ones of the part that has objects.
        while extent?.isCoarse ?? true {
            let former = extent
            let result = try await ask(question, from: request) { writer in
                if let former {
                    former.writeFiner(to: &writer)
                    writer.key("atLeast")
                    writer.integer(change)
                } else {
                    writer.raw(#","zoom":0,"bits":5,"ifState":"#)
                    writer.string(tag.knownState(of: request))
                }
            }
            let found = try Self.reading(result) { result throws(WebFailure) in
                if former == nil {
                    state = result["state"]?.string ?? ""
                    change = result["change"]?.number?.exactInt ?? 0
                }
                return result["clusters"].map { CellExtent($0) }
            }
            guard let found else { return tag.unchanged(state) }
            guard let next = found ?? former else { break }
            extent = next
        }
        var params = JSONWriter()
        params.raw("{\"bucket\":")
        params.string(collection.bucket.text)
        params.key("atLeast")
        params.integer(change)
        params.byte(UInt8(ascii: "}"))
        let fields = try await call(.fields, params.bytes, from: request) { $0 }
        let description = TileDescription(collection, question, extent: extent, base: request.base)
        let bytes = try Self.reading(fields) { description.json(fields: $0["fields"]) }
        return tag.marking(WebAnswer("application/json", bytes), state, for: request)
    }

    // MARK: Calls

    private func ask(
        _ question: ClusterQuestion, from request: WebRequest,
        _ more: (inout JSONWriter) -> Void
    ) async throws(WebFailure) -> [UInt8] {
        try await call(.clusters, question.params(more), from: request, question.path)
    }

    /// - Parameter path: the parameter of the address that a path of the method's params stands for.
    private func call(
        _ method: MethodName, _ params: [UInt8], from request: WebRequest,
        _ path: (String) -> String
    ) async throws(WebFailure) -> [UInt8] {
        let caller = try operations.caller(of: request)
        do {
            return try await operations.call(method, params, from: caller)
        } catch {
            var failure = WebFailure(error)
            failure.path = failure.path.map(path)
            throw failure
        }
    }

    private static func reading<Result>(
        _ result: [UInt8], _ body: (JSONView) throws(WebFailure) -> Result
    ) throws(WebFailure) -> Result {
        let parser = JSONParser()
        let view: JSONView
        do throws(JSONSyntaxError) {
            view = try parser.parse(result)
        } catch {
            preconditionFailure("the service's own answer is not JSON: \(error)")
        }
        return try withExtendedLifetime(parser) { () throws(WebFailure) in try body(view) }
    }
}
