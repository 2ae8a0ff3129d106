import Geodesy
import SyntheticData
import Workloads

/// PostGIS' queries: prepared statements on the sphere.
struct PostgresPeer: Peer {
    let name: String
    let title: String
    let server: any Server
    private let table: String

    init(_ server: PostgresServer, isMade: Bool) {
        self.server = server
        name = isMade ? "postgis-made" : "postgis"
        title = isMade ? "PostGIS, gist(category, place)" : "PostGIS"
        table = isMade ? "made" : "objects"
    }

    /// PostGIS' sphere is a little larger than GeoBucket's: its radii are scaled.
    private static let sphere = 6_371_008.771415 / Sphere.radiusMeters

    /// The statements of every connection, by name.
    static func statements(withMade: Bool) -> [(name: String, text: String)] {
        statements(of: "objects") + (withMade ? statements(of: "made") : [])
    }

    private static func statements(of table: String) -> [(name: String, text: String)] {
        let near = "\(table) WHERE ST_DWithin(place, $1::geography, $2::float8, false)"
        let filtered = "\(near) AND category = $3 AND rating >= $4::int"
        let distance = "place <-> $1::geography"
        let texts: [(Workload, String)] = [
            (.q1, "SELECT key, ST_Distance(place, $1::geography, false) FROM \(near)"),
            (.q2, "SELECT key, \(distance) FROM \(near) ORDER BY \(distance) LIMIT 50"),
            (.q3, "SELECT document FROM \(table) WHERE place::geometry && $1::geometry"),
            (.q4, "SELECT document, \(distance) FROM \(filtered) ORDER BY \(distance) LIMIT 20"),
            (.q5, "SELECT key, \(distance) FROM \(table) ORDER BY \(distance) LIMIT 10"),
            (
                .q6,
                "SELECT document FROM \(table) WHERE category = $1::text "
                    + "ORDER BY rating DESC LIMIT 20"
            ),
            (.q7, "SELECT count(*) FROM \(filtered)"),
            (.q8, "UPDATE \(table) SET place = $2::geography WHERE key = $1::text"),
            (
                .q9,
                // Sorted: the walk in order by <-> takes twice as long for a line.
                "SELECT key, ST_Distance(place, $1::geography, false) AS d FROM \(near) "
                    + "ORDER BY d LIMIT 50"
            ),
            (
                .q10,
                "SELECT category, count(*) FROM \(near) AND rating >= $3::int "
                    + "GROUP BY category ORDER BY 2 DESC, 1"
            ),
        ]
        return texts.map { (table + $0.rawValue, $1) }
    }

    func request(_ query: WorkloadQuery, for workload: Workload) -> [UInt8]? {
        let center = Self.point(query.center)
        let radius = "\(query.radiusMeters * Self.sphere)"
        let filtered = [center, radius, query.categoryName, "\(Workload.leastRating)"]
        let isMade = table == "made"
        switch workload {
        case .q1, .q2: return isMade ? nil : execute(workload, [center, radius])
        case .q8: return isMade ? nil : execute(.q1, [center, radius])
        case .q3, .q11:
            let box = query.box
            let (w, s, e, n) = (box.west, box.south, box.east, box.north)
            let ring = "POLYGON((\(w) \(s),\(e) \(s),\(e) \(n),\(w) \(n),\(w) \(s)))"
            return isMade ? nil : execute(workload, ["SRID=4326;" + ring])
        case .q5: return isMade ? nil : execute(workload, [center])
        case .q4, .q7: return execute(workload, filtered)
        case .q6: return execute(workload, [query.categoryName])
        case .q9:
            guard !isMade, let corridor = query.corridor else { return nil }
            return execute(
                workload, [Self.line(corridor.line), "\(corridor.widthMeters * Self.sphere)"])
        case .q10:
            return isMade ? nil : execute(workload, [center, radius, "\(Workload.leastRating)"])
        }
    }

    func move(_ object: Int, to position: MicroPoint) -> [UInt8]? {
        execute(.q8, [Dataset.id(object), Self.point(position)])
    }

    func hits(in answer: [UInt8], for workload: Workload) throws -> [Hit] {
        let rows = PostgresMessages.rows(in: answer)
        if workload == .q7 {
            let count = rows.first.map { PostgresMessages.integer($0[0]) } ?? 0
            return Array(repeating: .counted, count: Int(count))
        }
        if workload == .q10 {
            return rows.flatMap { row in
                Hit.counted(
                    Int(PostgresMessages.integer(row[1])),
                    inCategory: String(decoding: row[0], as: UTF8.self))
            }
        }
        let isDocument = [.q3, .q4, .q6].contains(workload)
        return try rows.map { row in
            let object =
                isDocument
                ? try Dataset.object(ofDocument: Array(row[0]))
                : Dataset.object(String(decoding: row[0], as: UTF8.self)) ?? -1
            guard row.count > 1 else { return Hit(object: object) }
            let distance = Double(bitPattern: PostgresMessages.integer(row[1]))
            return Hit(object: object, distance: distance / Self.sphere)
        }
    }

    private func execute(_ workload: Workload, _ parameters: [String]) -> [UInt8] {
        PostgresMessages.execute(table + workload.rawValue, parameters)
    }

    private static func line(_ line: GeoLine) -> String {
        let positions = line.positions.map { "\($0.longitude) \($0.latitude)" }
        return "SRID=4326;LINESTRING(\(positions.joined(separator: ",")))"
    }

    private static func point(_ position: MicroPoint) -> String {
        let coordinate = position.coordinate
        return "SRID=4326;POINT(\(coordinate.longitude) \(coordinate.latitude))"
    }
}
