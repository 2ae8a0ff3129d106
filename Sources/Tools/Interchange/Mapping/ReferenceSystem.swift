import CGeographicLib
import Glibc

/// A reference system in which positions can be given: degrees, Web Mercator, or a UTM zone.
///
///     ReferenceSystem("urn:ogc:def:crs:EPSG::32633")      // UTM zone 33 north
public enum ReferenceSystem: Sendable, Hashable {
    /// Longitude and latitude in degrees of WGS 84, or of ETRS89, which is the same within a metre.
    case degrees
    /// EPSG:3857, in metres.
    case webMercator
    /// EPSG:32601...32660 and 32701...32760, in metres.
    case utm(zone: Int, isNorth: Bool)

    /// The system of a name such as `EPSG:3857`, `urn:ogc:def:crs:OGC:1.3:CRS84` or `4326`; nil
    /// for one that cannot be converted.
    public init?(_ name: String) {
        let last = name.split(whereSeparator: { ":/#".contains($0) }).last.map(String.init) ?? ""
        if last.uppercased() == "CRS84" || last.uppercased() == "CRS84H" {
            self = .degrees
        } else if let code = Int(last) {
            self.init(code: code)
        } else {
            return nil
        }
    }

    /// The system of an EPSG code; nil for one that cannot be converted.
    public init?(code: Int) {
        switch code {
        case 4326, 4258, 4979: self = .degrees
        case 3857, 900_913, 102_100, 3785: self = .webMercator
        case 32_601...32_660: self = .utm(zone: code - 32_600, isNorth: true)
        case 32_701...32_760: self = .utm(zone: code - 32_700, isNorth: false)
        default: return nil
        }
    }

    /// `EPSG:3857`
    public var name: String {
        switch self {
        case .degrees: "EPSG:4326"
        case .webMercator: "EPSG:3857"
        case .utm(let zone, let isNorth): "EPSG:\((isNorth ? 32_600 : 32_700) + zone)"
        }
    }

    /// Degrees of a position, rounded to a billionth, a tenth of a millimetre; nil where the system
    /// has none.
    func degrees(x: Double, y: Double) -> (latitude: Double, longitude: Double)? {
        func rounded(_ degrees: Double) -> Double { (degrees * 1e9).rounded() / 1e9 }
        switch self {
        case .degrees: return (y, x)
        case .webMercator:
            let radius = 6_378_137.0
            let latitude = (2 * atan(exp(y / radius)) - .pi / 2) * 180 / .pi
            return (rounded(latitude), rounded(x / radius * 180 / .pi))
        case .utm(let zone, let isNorth):
            var (latitude, longitude) = (0.0, 0.0)
            guard gb_utm_reverse(Int32(zone), isNorth, x, y, &latitude, &longitude) else {
                return nil
            }
            return (rounded(latitude), rounded(longitude))
        }
    }

    /// Why a system is refused, and what converts it.
    public static func refusal(_ name: String) -> String {
        "the reference system \(name) cannot be converted; EPSG:4326, CRS84, 4258, 3857, 32601-32660 "
            + "and 32701-32760 can. Convert the file with "
            + "`ogr2ogr -t_srs EPSG:4326 -f GeoJSONSeq /vsistdout/ FILE | geobucket load - "
            + "--format geojson --bucket B`"
    }
}
