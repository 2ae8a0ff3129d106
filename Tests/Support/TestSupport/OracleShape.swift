import JSONText

/// The shape of a clause on a place, told by the clause's document.
enum OracleShape {
    case box(southWest: OraclePlace, northEast: OraclePlace)
    case polygon(OraclePolygon)
    case circle(center: OraclePlace, radius: Double?, model: String?)

    /// Nil for a clause of another type.
    init?(_ clause: JSONValue) {
        switch clause["type"]!.string! {
        case "geobox":
            let box = clause["box"]!
            self = .box(southWest: OraclePlace(box["sw"])!, northEast: OraclePlace(box["ne"])!)
        case "geopolygon": self = .polygon(OraclePolygon(clause["polygon"]!))
        case "geodistance":
            self = .circle(
                center: OraclePlace(clause["center"])!, radius: clause["radius"]?.double,
                model: clause["model"]?.string)
        default: return nil
        }
    }

    func contains(_ place: OraclePlace) -> Bool {
        switch self {
        case .box(let southWest, let northEast):
            return place.isIn(southWest: southWest, northEast: northEast)
        case .polygon(let polygon):
            return polygon.contains(latitude: place.latitude, longitude: place.longitude)
        case .circle(_, let radius, _):
            guard let radius, let distance = distance(to: place) else { return true }
            return Double(distance) / 1e6 <= radius
        }
    }

    /// In micrometres; nil where the shape measures none.
    func distance(to place: OraclePlace) -> Int64? {
        guard case .circle(let center, _, let model) = self else { return nil }
        return OracleDistance(center, place, model: model).micrometers
    }
}
