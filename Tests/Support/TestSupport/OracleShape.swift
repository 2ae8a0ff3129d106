import JSONText

/// The shape of a clause on a place, told by the clause's document.
enum OracleShape {
    case box(southWest: OraclePosition, northEast: OraclePosition)
    case polygon(OraclePolygon)
    case circle(center: OraclePosition, radius: Double?, model: String?)

    /// Nil for a clause of another type.
    init?(_ clause: JSONValue) {
        switch clause["type"]!.string! {
        case "geobox":
            let box = clause["box"]!
            self = .box(
                southWest: OraclePosition(box["sw"])!, northEast: OraclePosition(box["ne"])!)
        case "geopolygon": self = .polygon(OraclePolygon(clause["polygon"]!))
        case "geodistance":
            self = .circle(
                center: OraclePosition(clause["center"])!, radius: clause["radius"]?.double,
                model: clause["model"]?.string)
        default: return nil
        }
    }

    func contains(_ position: OraclePosition) -> Bool {
        switch self {
        case .box(let southWest, let northEast):
            return position.isIn(southWest: southWest, northEast: northEast)
        case .polygon(let polygon):
            return polygon.contains(latitude: position.latitude, longitude: position.longitude)
        case .circle(_, let radius, _):
            guard let radius, let distance = distance(to: position) else { return true }
            return Double(distance) / 1e6 <= radius
        }
    }

    /// In micrometres; nil where the shape measures none.
    func distance(to position: OraclePosition) -> Int64? {
        guard case .circle(let center, _, let model) = self else { return nil }
        return OracleDistance(center, position, model: model).micrometers
    }
}
