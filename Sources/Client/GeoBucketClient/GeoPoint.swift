import PlainJSON

/// A position on the earth in degrees, WGS 84: `{"_type":"point","lat":35.6586,"lon":139.7454}`.
public struct GeoPoint: Sendable, Hashable, Codable, CustomStringConvertible {
    /// Degrees, -90 to 90, north positive.
    public var latitude: Double
    /// Degrees, -180 to 180, east positive.
    public var longitude: Double

    /// Accepts any numbers; a point out of range is refused when it is set or saved.
    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }

    public var description: String { "\(latitude), \(longitude)" }
}

extension GeoPoint: JSONConvertible {
    /// A point of the form `{"_type":"point","lat":…,"lon":…}`.
    ///
    /// - Throws: `JSONMismatch` for anything else, and for a point out of range.
    public init(jsonValue: JSONValue) throws {
        guard jsonValue["_type"] == .string("point") else {
            throw JSONMismatch.expected("a GeoPoint", found: jsonValue)
        }
        self.init(
            latitude: try jsonValue.member("lat"), longitude: try jsonValue.member("lon"))
        try check()
    }

    /// The point as an object with `_type`, `lat` and `lon`.
    ///
    /// - Throws: `JSONMismatch` for a point out of range.
    public var jsonValue: JSONValue {
        get throws {
            try check()
            return .point(latitude, longitude)
        }
    }

    private func check() throws {
        guard abs(latitude) <= 90 else {
            throw JSONMismatch("latitude \(latitude) is outside -90...90 degrees")
        }
        guard abs(longitude) <= 180 else {
            throw JSONMismatch("longitude \(longitude) is outside -180...180 degrees")
        }
    }
}
