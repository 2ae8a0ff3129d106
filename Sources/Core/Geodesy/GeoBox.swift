/// A rectangle in degrees: latitudes south…north, longitudes west…east, edges included.
///
///     let fiji = GeoBox(south: -21, west: 176, north: -12, east: -178)   // over the antimeridian
///     fiji.contains(Coordinate(latitude: -18, longitude: -179))          // true
///
/// A box with `west > east` runs eastward from `west` over the antimeridian to `east`. Longitude
/// 180 and -180 are the same meridian, so a point on it lies in every box that reaches either.
/// It is a rectangle in degrees at the poles too: a pole is inside only at the box's longitudes.
public struct GeoBox: Sendable, Hashable {
    /// The edges in degrees; `west` and `east` as given, never normalised.
    public let south, west, north, east: Double

    /// A box from edges known to be in range; anything else is a bug and traps.
    public init(south: Double, west: Double, north: Double, east: Double) {
        precondition(south <= north, "south \(south) is north of \(north), or not a number")
        precondition(south >= -90 && north <= 90, "\(south)…\(north) is outside latitude -90…90")
        precondition(west >= -180 && west <= 180, "west \(west) is outside longitude -180…180")
        precondition(east >= -180 && east <= 180, "east \(east) is outside longitude -180…180")
        self.south = south
        self.west = west
        self.north = north
        self.east = east
    }

    /// The whole earth.
    public static let world = GeoBox(south: -90, west: -180, north: 90, east: 180)

    /// Whether the box runs over the antimeridian.
    public var crossesAntimeridian: Bool { west > east }

    /// Whether the point lies in the box or on its edge.
    public func contains(_ point: Coordinate) -> Bool {
        guard point.latitude >= south && point.latitude <= north else { return false }
        let ranges = longitudeRanges
        let longitude = point.longitude
        return ranges.0.contains(longitude) || ranges.1?.contains(longitude) ?? false
    }

    /// The longitudes of the box as one or two ranges of plain numbers within -180…180. A box with
    /// one edge on the antimeridian has the meridian's other spelling as its second range.
    public var longitudeRanges: (ClosedRange<Double>, ClosedRange<Double>?) {
        if west > east { return (west...180, -180...east) }
        if west == -180 && east < 180 { return (west...east, 180...180) }
        if east == 180 && west > -180 { return (west...east, -180 ... -180) }
        return (west...east, nil)
    }
}
