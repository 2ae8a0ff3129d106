import Geodesy
import JSONText
import Objects

/// A question for the objects of a bucket by the cells of the world's grid.
public struct ClusterQuery: Sendable {
    /// What objects have to satisfy.
    public var clause: Clause
    /// The field whose GeoPoints are counted; nil means the first by name that has any.
    public var field: FieldPath?
    /// The cells.
    public var window: GridWindow
    /// What to return of an object that is alone in its cell; nil means all of it.
    public var fields: [[UInt8]]?

    /// Stores its arguments.
    public init(
        clause: Clause = .all, field: FieldPath? = nil, window: GridWindow,
        fields: [[UInt8]]? = nil
    ) {
        self.clause = clause
        self.field = field
        self.window = window
        self.fields = fields
    }

    /// The levels of tiles.
    public static let zooms = 0...22
    /// The levels of cells below a tile's.
    public static let bits = 0...8
    /// The level of cells below a tile's, if none is given: a sixteenth of its side.
    public static let usualBits = 4
}

extension QueryParser {
    /// Reads `bucketQuery`, of which only the clause counts, `field`, `zoom`, `bits`, `box` and
    /// `fields`.
    public func clusterQuery(
        from params: inout MemberReader
    ) throws(ServiceFailure) -> ClusterQuery {
        let zooms = ClusterQuery.zooms
        guard let zoom = try params.optionalInt("zoom", in: zooms) else {
            throw params.failure(
                "zoom",
                "\"zoom\" is missing; expected \(zooms.lowerBound) to \(zooms.upperBound)")
        }
        let bits = try params.optionalInt("bits", in: ClusterQuery.bits)
        let level = zoom + (bits ?? ClusterQuery.usualBits)
        var window = GridWindow(level: level)
        if params.optional("box") != nil {
            window = GridWindow(level: level, meeting: try GeoClauseParser.box(&params))
        }
        return ClusterQuery(
            clause: try clause(from: &params), field: try field(&params), window: window,
            fields: try fields(&params))
    }

    private func field(_ params: inout MemberReader) throws(ServiceFailure) -> FieldPath? {
        guard params.optional("field") != nil else { return nil }
        let utf8 = try params.utf8("field")
        guard !utf8.isEmpty else { throw params.failure("field", "expected the path of a field") }
        return FieldPath(utf8: utf8)
    }
}
