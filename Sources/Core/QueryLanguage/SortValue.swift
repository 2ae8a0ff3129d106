import Geodesy
import Objects
import PlainJSON

/// A value as a sort key encodes it.
public enum SortValue: Sendable, Equatable {
    /// A null that is stored: before every other value.
    case null
    /// False comes before true.
    case bool(Bool)
    /// As returned by `JSONNumber.floored`.
    case number(floor: Double, rest: UInt16)
    /// UTF-8: compared as code points.
    case string([UInt8])
    /// The longitude is canonical: 180 is -180.
    case point(latitude: Double, longitude: Double)
    /// An array or an object.
    case container
    /// Last in both directions.
    case missing
    /// For an order by distance; not comparable with the numbers of a field.
    case distance(Distance)

    /// The value of a field, nil where the object lacks it. A number out of binary64's range traps:
    /// no stored document has one.
    public init(_ view: JSONView?) {
        guard let view else {
            self = .missing
            return
        }
        switch view.kind {
        case .null: self = .null
        case .bool: self = .bool(view.bool!)
        case .number: self.init(view.number!)
        case .string: self = .string(Array(view.utf8!))
        // A number out of range is in no stored document.
        case .array, .huge: self = .container
        case .object: self = GeoPoint.coordinate(of: view).map(SortValue.init) ?? .container
        }
    }

    /// A number by its exact value.
    public init(_ number: JSONNumber) {
        let (floor, rest) = number.floored
        self = .number(floor: floor, rest: rest)
    }

    /// A GeoPoint, with its canonical longitude.
    public init(_ position: Coordinate) {
        self = .point(latitude: position.latitude, longitude: position.canonicalLongitude)
    }

    /// A reported distance; nil, of an object without the point, is a missing value.
    public init(_ distance: Distance?) { self = distance.map(SortValue.distance) ?? .missing }
}
