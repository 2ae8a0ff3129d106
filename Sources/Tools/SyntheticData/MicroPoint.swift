import Geodesy

/// A position in whole millionths of a degree, which every benchmark peer's format represents
/// exactly.
public struct MicroPoint: Sendable, Hashable {
    /// Millionths of a degree, north positive.
    public var latitude: Int32
    /// Millionths of a degree, east positive.
    public var longitude: Int32

    /// The nearest position to these degrees; latitudes beyond 85 degrees and longitudes beyond the
    /// antimeridian are clamped.
    public init(latitude: Double, longitude: Double) {
        self.latitude = Int32((min(85, max(-85, latitude)) * 1e6).rounded())
        self.longitude = Int32((min(180, max(-180, longitude)) * 1e6).rounded())
    }

    /// The same position in degrees.
    public var coordinate: Coordinate {
        Coordinate(latitude: Double(latitude) / 1e6, longitude: Double(longitude) / 1e6)
    }
}
