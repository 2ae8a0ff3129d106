/// A position on the earth: latitude and longitude in degrees, WGS 84.
///
///     let tower = Coordinate(latitude: 35.658603, longitude: 139.745433)
///     tower.antipode          // 35.658603 south, 40.254567 west
///
/// Two coordinates are equal when they name the same latitude and the same meridian: longitude
/// 180 equals -180, and -0.0 equals 0.0. The numbers themselves are kept as they were given.
///
/// - Note: At a pole every longitude is the same point on the ground, yet the coordinates differ.
public struct Coordinate: Sendable, BitwiseCopyable {
    /// Degrees north of the equator, -90 through 90.
    public let latitude: Double

    /// Degrees east of Greenwich, -180 through 180.
    public let longitude: Double

    /// A coordinate from numbers known to be in range; anything else is a bug and traps.
    public init(latitude: Double, longitude: Double) {
        precondition(
            Self.isValid(latitude: latitude, longitude: longitude),
            "latitude \(latitude) is outside -90…90 or longitude \(longitude) outside -180…180")
        self.latitude = latitude
        self.longitude = longitude
    }

    /// A coordinate from numbers of unknown origin; `nil` when one is out of range or not finite.
    public init?(validLatitude: Double, longitude: Double) {
        guard Self.isValid(latitude: validLatitude, longitude: longitude) else { return nil }
        self.latitude = validLatitude
        self.longitude = longitude
    }

    /// The longitude with one spelling for the meridian opposite Greenwich: 180 is read as -180.
    public var canonicalLongitude: Double { longitude == 180 ? -180 : longitude }

    /// The diametrically opposite point, up to one rounding of the longitude.
    public var antipode: Coordinate {
        Coordinate(
            latitude: -latitude, longitude: longitude <= 0 ? longitude + 180 : longitude - 180)
    }

    // A comparison with NaN is false, and an infinity is out of range.
    private static func isValid(latitude: Double, longitude: Double) -> Bool {
        latitude >= -90 && latitude <= 90 && longitude >= -180 && longitude <= 180
    }
}

extension Coordinate: Hashable {
    /// Same latitude and same meridian.
    public static func == (a: Coordinate, b: Coordinate) -> Bool {
        a.latitude == b.latitude && a.canonicalLongitude == b.canonicalLongitude
    }

    /// Feeds the latitude and the canonical longitude, so that equal coordinates hash alike.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(latitude)
        hasher.combine(canonicalLongitude)
    }
}

extension Coordinate: CustomStringConvertible {
    /// `35.658603, 139.745433`: latitude, then longitude.
    public var description: String { "\(latitude), \(longitude)" }
}
