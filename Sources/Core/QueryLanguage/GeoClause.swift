import Geodesy
import Objects

/// A spatial clause: whether a field's GeoPoint lies in a shape, and which distances objects
/// report.
///
/// A class because it is large and passed on often: copies would count many references.
public final class GeoClause: Sendable {
    /// The field whose GeoPoint is asked for.
    public let field: FieldPath
    /// Where the point has to lie.
    public let shape: GeoShape
    /// The distances that each object reports, whether it lies in the shape or not.
    public let reports: [ReportedDistance]

    /// A clause on the GeoPoint of a field; by default objects report no distances.
    public init(_ field: FieldPath, _ shape: GeoShape, reports: [ReportedDistance] = []) {
        self.field = field
        self.shape = shape
        self.reports = reports
    }

    /// The reported distance that is the only key of an order, nearest first.
    public func report(orderedBy order: [OrderKey]) -> ReportedDistance? {
        guard order.count == 1, !order[0].descending, case .distance(let name) = order[0].source
        else { return nil }
        return reports.first { $0.name == name }
    }
}

extension GeoClause: Hashable {
    public static func == (a: GeoClause, b: GeoClause) -> Bool {
        a === b || a.field == b.field && a.shape == b.shape && a.reports == b.reports
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(field)
        hasher.combine(shape)
        hasher.combine(reports)
    }
}

/// A distance in `_calculated`: of a field's GeoPoint by a measure, under a name.
public struct ReportedDistance: Sendable, Hashable {
    /// The member of `_calculated` under which it is reported.
    public let name: String
    /// The field whose GeoPoint is measured; objects without one report nothing.
    public let field: FieldPath
    /// How the distance is measured, and from where.
    public let measure: GeoMeasure

    /// A distance under a name that a member of `_calculated` may have.
    public init(_ name: String, of field: FieldPath, by measure: GeoMeasure) {
        self.name = name
        self.field = field
        self.measure = measure
    }
}
