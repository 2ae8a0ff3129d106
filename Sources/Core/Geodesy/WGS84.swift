import CGeodesy

/// Distances along geodesics on the WGS 84 ellipsoid.
///
///     let wellington = Coordinate(latitude: -41.32, longitude: 174.81)
///     let salamanca = Coordinate(latitude: 40.96, longitude: -5.5)
///     WGS84.distance(wellington, salamanca)       // 19959679.267354 m
///
/// - Complexity: O(1), about a microsecond.
/// - Note: The error before rounding stays below 15 nm, near-antipodal places included.
/// - Reference: Karney, "Algorithms for geodesics", J. Geodesy 87, 2013, as GeographicLib has it.
public enum WGS84 {
    /// The length of the shortest geodesic, rounded to the nearest micrometre.
    public static func distance(_ a: Coordinate, _ b: Coordinate) -> Distance {
        .meters(gb_wgs84_distance(a.latitude, a.longitude, b.latitude, b.longitude))
    }

    /// How much shorter and how much longer than on the sphere a geodesic can be.
    ///
    /// Inequality: `lowerBound * Sphere.meters(a, b) <= WGS84 <= upperBound * Sphere.meters(a, b)`.
    ///
    /// Why it holds. Latitude and longitude taken over from the ellipsoid, a piece of any curve is
    /// as long as there times a ratio of radii of curvature. The ellipsoid's lie between
    /// b²/a = 6,335,439.3 m and a²/b = 6,399,593.6 m; the sphere has 6,371,000 m everywhere. The
    /// ratios, 0.9944181 and 1.0044882, are rounded outward.
    static let sphereRatio = (lowerBound: 0.99441, upperBound: 1.00449)
}
