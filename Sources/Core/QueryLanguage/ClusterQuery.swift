import Geodesy
import Objects
import PlainJSON

/// A question for the objects of a bucket by the cells of the world's grid.
public struct ClusterQuery: Sendable {
    /// What objects have to satisfy.
    public var clause: Clause
    /// The field whose GeoPoints are counted; nil means the bucket's place.
    public var field: FieldPath?
    /// The cells.
    public var window: GridWindow
    /// What to return of an object that is alone in its cell; nil means all of it.
    public var fields: [[UInt8]]?
    /// The most objects that are listed one by one, each with its places; nil means that only those
    /// alone in their cells are, without places.
    public var listedObjects: Int?
    /// The state of the bucket that the client has the answer of, or some other text; nil if it does
    /// not want to know the state.
    public var knownState: String?

    /// Stores its arguments.
    public init(
        clause: Clause = .all, field: FieldPath? = nil, window: GridWindow,
        fields: [[UInt8]]? = nil, listedObjects: Int? = nil, knownState: String? = nil
    ) {
        self.clause = clause
        self.field = field
        self.window = window
        self.fields = fields
        self.listedObjects = listedObjects
        self.knownState = knownState
    }

    /// The levels of tiles.
    public static let zooms = 0...22
    /// The levels of cells below a tile's.
    public static let bits = 0...8
    /// The level of cells below a tile's, if none is given: a sixteenth of its side.
    public static let usualBits = 4
}

extension QueryParser {
    /// Reads `bucketQuery`, of which only the clause counts, `field`, `tile` or `zoom` and `box`,
    /// `bits`, `fields`, `objects` and `ifState`.
    public func clusterQuery(
        from params: inout MemberReader
    ) throws(ServiceFailure) -> ClusterQuery {
        let bits =
            try params.optionalInt("bits", in: ClusterQuery.bits) ?? ClusterQuery.usualBits
        let tile = try tile(&params, bits)
        let window = if let tile { tile } else { try view(&params, bits) }
        return ClusterQuery(
            clause: try clause(from: &params), field: try field(&params), window: window,
            fields: try fields(&params),
            listedObjects: try params.optionalInt("objects", in: 0...limits.clusterCells),
            knownState: try params.optionalString("ifState"))
    }

    /// The cells of `zoom`, within `box` if there is one.
    private func view(
        _ params: inout MemberReader, _ bits: Int
    ) throws(ServiceFailure) -> GridWindow {
        let zooms = ClusterQuery.zooms
        guard let zoom = try params.optionalInt("zoom", in: zooms) else {
            throw params.failure(
                "zoom",
                "\"zoom\" is missing; expected \(zooms.lowerBound) to \(zooms.upperBound)")
        }
        guard params.optional("box") != nil else { return GridWindow(level: zoom + bits) }
        return GridWindow(level: zoom + bits, meeting: try GeoClauseParser.box(&params))
    }

    /// The cells of `tile`, if there is one: `9/454/201`, zoom, column and row.
    private func tile(
        _ params: inout MemberReader, _ bits: Int
    ) throws(ServiceFailure) -> GridWindow? {
        guard let text = try params.optionalString("tile") else { return nil }
        for other in ["zoom", "box"] as [StaticString] where params.optional(other) != nil {
            throw params.failure(other, "\"tile\" takes the place of \"\(other)\"")
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map {
            $0.utf8.first == UInt8(ascii: "+") ? nil : UInt32($0)
        }
        guard parts.count == 3, let zoom = parts[0].map(Int.init), let column = parts[1],
            let row = parts[2], ClusterQuery.zooms.contains(zoom), max(column, row) < 1 << zoom
        else {
            throw params.failure(
                "tile", "expected \"zoom/column/row\" of a tile that exists, such as 9/454/201")
        }
        return GridWindow(tile: GridCell(column: column, row: row), zoom: zoom, bits: bits)
    }

    private func field(_ params: inout MemberReader) throws(ServiceFailure) -> FieldPath? {
        guard params.optional("field") != nil else { return nil }
        let utf8 = try params.utf8("field")
        guard !utf8.isEmpty else { throw params.failure("field", "expected the path of a field") }
        return FieldPath(utf8: utf8)
    }
}
