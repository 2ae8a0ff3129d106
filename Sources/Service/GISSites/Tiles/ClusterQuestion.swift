import Geodesy
import Objects
import QueryLanguage
import ServiceDesk
import WebExchange

/// What an address asks of a collection: which objects, and which of their fields.
package struct ClusterQuestion {
    private let collection: CollectionName
    private let clause: Clause
    /// The names of the fields that objects have; nil means all.
    private let fields: [String]?
    /// The parameter of the address that has the query.
    private let queryName: String
    /// The parameters, name and value by turns.
    let parameters: [String]

    /// Units of a tile beside it of which it tells too.
    let buffer: Int

    /// Reads `fields` and `buffer`.
    ///
    /// - Parameter clause: what `filter` or `query` stands for.
    package init(
        _ collection: CollectionName, of request: WebRequest, _ clause: Clause
    ) throws(WebFailure) {
        self.collection = collection
        parameters = request.query.flatMap { [$0.name, $0.value] }
        self.clause = clause
        fields = request.fields
        buffer = try request["buffer"].map(Self.buffer) ?? 0
        queryName = request["query"] == nil ? "filter" : "query"
    }

    /// The parameters that addresses of tiles take.
    package static let names: Set<String> = ["filter", "filter-lang", "query", "fields", "buffer"]

    private static func buffer(_ text: String) throws(WebFailure) -> Int {
        guard let units = TileAddress.number(text).map(Int.init),
            TileAddress.buffers.contains(units)
        else {
            let (least, most) = (TileAddress.buffers.lowerBound, TileAddress.buffers.upperBound)
            throw .invalid(
                "expected a whole number from \(least) to \(most), of \(TileAddress.extent)",
                at: "buffer")
        }
        return units
    }

    /// Whether the address names the fields.
    var namesFields: Bool { fields != nil }

    /// Whether objects have a field of their first level.
    func shows(_ field: String) -> Bool { fields?.contains(field) ?? true }

    /// The call that asks for some cells.
    ///
    /// - Parameters:
    ///   - listed: the most objects that are listed one by one; nil: only those alone in their cells.
    ///   - state: the state that the client has the answer of.
    package func call(
        _ window: GridWindow, listed: Int? = nil, unless state: String? = nil
    ) -> TypedCall<ClusterAnswer> {
        .clusters(
            ClusterQuery(
                clause: clause, field: collection.field, window: window,
                fields: fields?.map { Array($0.utf8) }, listedObjects: listed, knownState: state),
            in: collection.bucket)
    }

    /// The place in the address that a path of the method's params stands for.
    func path(_ path: String) -> String {
        let member = "bucketQuery"
        switch path {
        case "bucket", "field": return "collection"
        case _ where path.hasPrefix(member): return queryName + path.dropFirst(member.count)
        default: return path
        }
    }
}
