import JSONText

/// The shape of a clause on a place, told by the clause's document.
enum OracleShape {
    case box(southWest: OraclePosition, northEast: OraclePosition)
    case polygon(OraclePolygon)
    case circle(center: OraclePosition, radius: Double?, model: String?)
    case corridor(OracleLine, width: Double)

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
        case "geocorridor":
            self = .corridor(OracleLine(clause["line"]!), width: clause["width"]!.double!)
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
        case .corridor(let line, let width):
            return Double(line.nearest(to: position).micrometers) / 1e6 <= width
        }
    }

    /// In micrometres; nil where the shape measures none.
    func distance(to position: OraclePosition) -> Int64? {
        switch self {
        case .box, .polygon: nil
        case .circle(let center, _, let model):
            OracleDistance(center, position, model: model).micrometers
        case .corridor(let line, _): line.nearest(to: position).micrometers
        }
    }

    /// In micrometres; nil where the shape has no line.
    func along(to position: OraclePosition) -> Int64? {
        guard case .corridor(let line, _) = self else { return nil }
        return line.nearest(to: position).alongMicrometers
    }
}
