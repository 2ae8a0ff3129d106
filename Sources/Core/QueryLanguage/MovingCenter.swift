import Geodesy
import Objects
import PlainJSON

/// The centre of a circle that is where an object is: in watches only.
///
///     {"_type":"object","bucket":"couriers","_id":"c7","field":"location"}
public struct MovingCenter: Sendable, Hashable {
    /// The bucket of the object.
    public let bucket: BucketName
    /// The object.
    public let id: ObjectID
    /// The field of the object whose GeoPoint is the centre.
    public let field: FieldPath
    /// The place of its clause among the spatial clauses of the tree, in the order of the document.
    public let ordinal: Int

    /// Reads the members of a centre. `_type` is known to be `object`.
    init(_ view: JSONView, of ordinal: Int) throws(ServiceFailure) {
        var members = try MemberReader(view)
        _ = try members.string("_type")
        bucket = try BucketName(try members.string("bucket"), at: "bucket")
        id = try ObjectID(try members.string("_id"), at: "_id")
        field = FieldPath(utf8: try members.utf8("field"))
        self.ordinal = ordinal
        try members.finish(as: "a centre that follows an object")
    }
}

extension Clause {
    /// The same clause with the centres of some circles moved.
    ///
    /// - Parameter positions: the new centres, by the place of their clauses among the spatial
    ///   clauses of the tree.
    public func movingCenters(to positions: [Int: Coordinate]) -> Clause {
        mapShapes { ordinal, shape in shape.with(center: positions[ordinal]) }
    }

    /// The same clause with other shapes. A distance that a clause reports is measured from its new
    /// circle.
    ///
    /// - Parameter map: gets the place of each spatial clause among those of the tree, and its shape.
    public func mapShapes(_ map: (Int, GeoShape) -> GeoShape) -> Clause {
        var ordinal = 0
        return mapped(map, &ordinal)
    }

    /// The path from the tree's root to a spatial clause, such as `["clauses[1]", "clause"]`; nil if there
    /// is none.
    ///
    /// - Parameter ordinal: its place among the spatial clauses of the tree.
    public func path(toShape ordinal: Int) -> [String]? {
        var ordinal = ordinal
        return path(toShape: &ordinal)
    }

    private func path(toShape ordinal: inout Int) -> [String]? {
        switch self {
        case .geo:
            defer { ordinal -= 1 }
            return ordinal == 0 ? [] : nil
        case .and(let clauses), .or(let clauses):
            for (index, clause) in clauses.enumerated() {
                if let path = clause.path(toShape: &ordinal) { return ["clauses[\(index)]"] + path }
            }
            return nil
        case .not(let clause): return clause.path(toShape: &ordinal).map { ["clause"] + $0 }
        default: return nil
        }
    }

    private func mapped(_ map: (Int, GeoShape) -> GeoShape, _ ordinal: inout Int) -> Clause {
        switch self {
        case .geo(let clause):
            defer { ordinal += 1 }
            return .geo(clause.replacing(map(ordinal, clause.shape)))
        case .and(let clauses): return .and(Self.mapped(clauses, map, &ordinal))
        case .or(let clauses): return .or(Self.mapped(clauses, map, &ordinal))
        case .not(let clause): return .not(clause.mapped(map, &ordinal))
        default: return self
        }
    }

    private static func mapped(
        _ clauses: [Clause], _ map: (Int, GeoShape) -> GeoShape, _ ordinal: inout Int
    ) -> [Clause] {
        var result: [Clause] = []
        for clause in clauses { result.append(clause.mapped(map, &ordinal)) }
        return result
    }
}

extension GeoClause {
    fileprivate func replacing(_ shape: GeoShape) -> GeoClause {
        GeoClause(
            field, shape,
            reports: shape.radiusMeasure.map { measure in
                reports.map { ReportedDistance($0.name, of: $0.field, by: measure) }
            } ?? reports)
    }
}
