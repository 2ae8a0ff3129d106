/// The names that people give to places and to their halves.
enum UsualNames {
    static let latitudes = ["latitude", "latitud", "breitengrad", "lat", "y"]
    static let longitudes = [
        "longitude", "longitud", "längengrad", "laengengrad", "long", "lng", "lon", "x",
    ]
    static let places: Set<String> = [
        "geo_point_2d", "_geo", "location", "geometry", "geom", "wkt", "the_geom", "wkb_geometry",
        "way", "shape", "geo_shape", "position", "coordinates", "coordinate", "coords", "coord",
        "geo", "geopoint", "geo_point", "point", "latlng", "latlon", "lat_lng", "lat_lon", "loc",
        "gps", "geolocation", "geocode", "geohash", "geo_hash", "ewkt", "wkb",
    ]

    /// What stands before a usual ending: nothing for `lat`, `stop_` for `stop_lat`; nil for any
    /// other name.
    static func prefix(_ name: String, _ endings: [String]) -> String? {
        let lower = name.lowercased()
        for ending in endings where lower.hasSuffix(ending) {
            let prefix = name.dropLast(ending.count)
            if prefix.isEmpty { return "" }
            guard ending.count > 1, let last = prefix.last else { continue }
            let isCamel = last.isLowercase && name.dropFirst(prefix.count).first!.isUppercase
            if "_-. ".contains(last) || isCamel { return String(prefix).lowercased() }
        }
        return nil
    }

    /// Whether a name is `x` or `y`.
    static func isPlane(_ name: String) -> Bool { name.count == 1 }
}
