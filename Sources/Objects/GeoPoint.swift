import Geodesy
import JSONText

/// GeoPoints in JSON: `{"_type":"point","lat":35.658603,"lon":139.745433}`, degrees, WGS 84.
public enum GeoPoint {
    /// Whether a value claims to be a GeoPoint: an object whose `_type` is `"point"`.
    public static func isClaimed(by value: JSONView) -> Bool {
        guard value.kind == .object, let type = value["_type"]?.utf8 else { return false }
        return type.elementsEqualBytes("point")
    }

    /// The coordinate of a value that is a GeoPoint in a stored document, else nil.
    public static func coordinate(of value: JSONView) -> Coordinate? {
        guard isClaimed(by: value), let latitude = value["lat"]?.number,
            let longitude = value["lon"]?.number
        else { return nil }
        return Coordinate(validLatitude: latitude.double, longitude: longitude.double)
    }

    /// The coordinate of a value that has to be a GeoPoint; says what is wrong, and where.
    public static func validate(_ value: JSONView) throws(ServiceFailure) -> Coordinate {
        guard isClaimed(by: value) else {
            throw ServiceFailure(
                .invalidInputData,
                "expected a GeoPoint: {\"_type\":\"point\",\"lat\":…,\"lon\":…}")
        }
        for member in value.members {
            let name = member.name
            guard
                name.elementsEqualBytes("lat") || name.elementsEqualBytes("lon")
                    || name.elementsEqualBytes("_type")
            else {
                let text = String(decoding: name, as: UTF8.self)
                throw ServiceFailure(
                    .invalidInputData, "a GeoPoint has no member \(quoted(text))",
                    at: shortened(text))
            }
        }
        func member(_ name: StaticString, _ bound: Double) throws(ServiceFailure) -> Double {
            guard let member = value[name] else {
                throw ServiceFailure(
                    .invalidInputData, "a GeoPoint needs \"lat\" and \"lon\", in degrees",
                    at: name.description)
            }
            return try degrees(member, bound, at: name.description)
        }
        let latitude = try member("lat", 90)
        return Coordinate(latitude: latitude, longitude: try member("lon", 180))
    }

    /// A value that has to be a latitude (bound 90) or a longitude (bound 180).
    public static func degrees(
        _ value: JSONView, _ bound: Double, at path: @autoclosure () -> String
    ) throws(ServiceFailure) -> Double {
        guard value.kind == .huge || value.number != nil else {
            throw ServiceFailure(
                .invalidInputData,
                "expected a number of degrees from -\(Int(bound)) to \(Int(bound))", at: path())
        }
        guard let degrees = value.number?.double, abs(degrees) <= bound else {
            let text = String(decoding: value.text.prefix(40), as: UTF8.self)
            throw ServiceFailure(
                .invalidInputData,
                "\(bound == 90 ? "latitude" : "longitude") \(text) is outside -\(Int(bound))...\(Int(bound)) degrees",
                at: path())
        }
        return degrees
    }
}

/// A GeoPoint and the path it stands at in its object.
public struct FieldPoint: Sendable, Hashable {
    public let field: FieldPath
    public let coordinate: Coordinate

    public init(field: FieldPath, coordinate: Coordinate) {
        self.field = field
        self.coordinate = coordinate
    }

    /// Every GeoPoint a field path can name in an object: at any depth, not inside arrays.
    ///
    /// Where the last of nested duplicates, or a first-level name with dots, hides another value,
    /// only the one that a query would see counts.
    public static func all(in object: JSONView) -> [FieldPoint] {
        var found: [FieldPoint] = []
        collect(object, prefix: [], top: object, into: &found)
        return found
    }

    private static func collect(
        _ object: JSONView, prefix: [UInt8], top: JSONView, into found: inout [FieldPoint]
    ) {
        for member in object.members where member.value.kind == .object {
            let dotted = member.name.contains(UInt8(ascii: "."))
            if dotted && !prefix.isEmpty { continue }  // no path leads there
            let path = prefix + member.name
            if let coordinate = GeoPoint.coordinate(of: member.value) {
                let field = FieldPath(utf8: path)
                if let seen = field.value(in: top), seen.isSameValue(as: member.value) {
                    found.append(FieldPoint(field: field, coordinate: coordinate))
                }
            } else if !dotted {
                collect(
                    member.value, prefix: path + [UInt8(ascii: ".")], top: top, into: &found)
            }
        }
    }
}
