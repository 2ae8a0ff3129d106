import Foundation

/// A GeoPoint as the oracle knows it: two numbers of degrees.
struct OraclePosition: Hashable {
    var latitude: Double
    var longitude: Double

    /// Nil for anything but an object whose `_type` is `point`.
    init?(_ value: JSONValue?) {
        guard let value, case .object = value, value["_type"]?.string == "point",
            let latitude = value["lat"]?.double, let longitude = value["lon"]?.double
        else { return nil }
        self.latitude = latitude
        self.longitude = longitude
    }

    /// Where a value is: a GeoPoint, or the GeoPoints among an array's elements.
    static func all(_ value: JSONValue?) -> [OraclePosition] {
        if let elements = value?.array { return elements.compactMap { OraclePosition($0) } }
        return OraclePosition(value).map { [$0] } ?? []
    }

    /// 180 and -180 are one meridian.
    var meridian: Double { longitude == 180 ? -180 : longitude }

    func isSame(as other: OraclePosition) -> Bool {
        latitude == other.latitude && meridian == other.meridian
    }

    func isIn(southWest: OraclePosition, northEast: OraclePosition) -> Bool {
        guard southWest.latitude <= latitude, latitude <= northEast.latitude else { return false }
        let spellings = abs(longitude) == 180 ? [180, -180] : [longitude]
        let (west, east) = (southWest.longitude, northEast.longitude)
        return spellings.contains { longitude in
            west <= east
                ? west <= longitude && longitude <= east : longitude >= west || longitude <= east
        }
    }
}

#if arch(x86_64) || arch(i386)
    typealias Wide = Float80
#else
    typealias Wide = Double
#endif

/// A distance, computed apart from the product's.
public struct OracleDistance {
    let meters: Wide

    /// How far the product's arithmetic may be off before it rounds.
    private let tolerance: Wide

    /// - Parameter model: `wgs84`; anything else is the sphere.
    init(_ a: OraclePosition, _ b: OraclePosition, model: String?) {
        if model == "wgs84" {
            meters = OracleGeodesic(a, b).meters
            tolerance = 2e-8
        } else {
            meters = Self.greatCircle(a, b)
            tolerance = 1e-9 + meters * 6e-16
        }
    }

    /// The distance between two places in degrees.
    public init(
        from a: (latitude: Double, longitude: Double),
        to b: (latitude: Double, longitude: Double), model: String
    ) {
        self.init(
            OraclePosition(.point(a.latitude, a.longitude))!,
            OraclePosition(.point(b.latitude, b.longitude))!, model: model)
    }

    /// The angle between two directions from its sine and cosine, in the widest arithmetic at hand.
    ///
    /// The same function of two places as the haversine formula, and as well conditioned near 180°
    /// as near 0: with 64 bits of significand the error stays below 1e-11 m.
    private static func greatCircle(_ a: OraclePosition, _ b: OraclePosition) -> Wide {
        let degree = Wide.pi / 180
        let (latitudeA, latitudeB) = (Wide(a.latitude) * degree, Wide(b.latitude) * degree)
        let turn = (Wide(b.longitude) - Wide(a.longitude)) * degree
        let (sineA, cosineA) = sineAndCosine(a.latitude, latitudeA)
        let (sineB, cosineB) = sineAndCosine(b.latitude, latitudeB)
        let east = cosineB * sin(turn)
        let north = cosineA * sineB - sineA * cosineB * cos(turn)
        let along = sineA * sineB + cosineA * cosineB * cos(turn)
        return 6_371_000 * atan2((east * east + north * north).squareRoot(), along)
    }

    /// The cosine of 90° is 0, though not that of the nearest number to π/2.
    static func sineAndCosine(_ degrees: Double, _ radians: Wide) -> (Wide, Wide) {
        abs(degrees) == 90 ? (degrees / 90 > 0 ? 1 : -1, 0) : (sin(radians), cos(radians))
    }

    /// The distance rounded to the micrometre.
    public var micrometers: Int64 { Int64((meters * 1e6).rounded()) }

    /// Whether the product's arithmetic may round to the next micrometre.
    public var isNearRounding: Bool {
        let scaled = meters * 1e6
        let fromBoundary = abs(scaled - scaled.rounded(.down) - 0.5) / 1e6
        return fromBoundary < tolerance
    }
}
