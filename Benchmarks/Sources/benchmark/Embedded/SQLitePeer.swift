import CSQLite
import Geodesy
import SyntheticData
import Workloads

/// SQLite's R*Tree in this process: boxes from the tree, distances by a function in SQL.
///
/// The table `places` is the tree, with the exact coordinates as auxiliary columns; `objects` has
/// the rest, with an index of category and rating for Q6.
final class SQLitePeer: EmbeddedPeer {
    let name = "sqlite"
    let title = "SQLite R*Tree, in process"
    let version = "SQLite " + String(cString: sqlite3_libversion())
    private let path: String
    private var database: OpaquePointer?

    init(folder: String) { path = folder + "/rtree.sqlite" }

    deinit { sqlite3_close_v2(database) }

    func load(_ dataset: Dataset) throws -> LoadFacts {
        try check(sqlite3_open(path, &database))
        sqlite3_create_function(
            database, "distance", 4, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil, greatCircle, nil, nil)
        var facts = LoadFacts()
        facts.loadSeconds = try seconds {
            try run(Self.schema)
            try insert(dataset)
            try run("CREATE INDEX top ON objects (category, rating DESC); ANALYZE; COMMIT")
        }
        let pages = SQLiteStatement(
            try prepare(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"))
        _ = try pages.step()
        facts.memoryBytesPerObject = pages.number(0) / Double(dataset.count)
        facts.note = "the file, all of it in the page cache"
        return facts
    }

    func answer(_ workload: Workload, _ queries: [WorkloadQuery]) throws -> ((Int) throws -> Int)? {
        guard let text = Self.queries[workload] else { return nil }
        let statement = SQLiteStatement(try prepare(text))
        return { number in
            let query = queries[number]
            guard workload == .q5 else {
                return try Self.rows(of: statement, query, workload, query.radiusMeters)
            }
            var radius = Workload.firstRadiusMeters
            while true {
                let rows = try Self.rows(of: statement, query, workload, radius)
                if rows == 10 || radius > 2e7 { return rows }
                radius *= 2
            }
        }
    }

    private static func rows(
        of statement: SQLiteStatement, _ query: WorkloadQuery, _ workload: Workload,
        _ radiusMeters: Double
    ) throws -> Int {
        let position = query.center.coordinate
        let box = workload == .q3 ? query.box : query.box(around: radiusMeters)
        statement.reset()
        // What a statement does not name has the number 0 and is passed over.
        for (name, value) in [
            (":south", box.south), (":west", box.west), (":north", box.north), (":east", box.east),
            (":latitude", position.latitude), (":longitude", position.longitude),
            (":radius", radiusMeters), (":rating", Double(Workload.leastRating)),
        ] { statement.bind(value, name) }
        statement.bind(query.categoryName, ":category")
        var rows = 0
        while try statement.step() {
            if workload == .q7 { return Int(statement.number(0)) }
            statement.touch()
            rows += workload == .q10 ? Int(statement.number(1)) : 1
        }
        return rows
    }

    private static let inBox =
        // CROSS: the tree first, whatever the planner thinks.
        "FROM places p CROSS JOIN objects o ON o.slot = p.slot "
        + "WHERE p.west <= :east AND p.east >= :west AND p.south <= :north AND p.north >= :south "
    private static let distance = "distance(p.latitude, p.longitude, :latitude, :longitude)"
    private static let filtered =
        inBox + "AND o.category = :category AND o.rating >= :rating AND \(distance) <= :radius"

    private static let queries: [Workload: String] = [
        .q1: "SELECT o.key, \(distance) AS d \(inBox) AND d <= :radius",
        .q2: "SELECT o.key, \(distance) AS d \(inBox) AND d <= :radius ORDER BY d LIMIT 50",
        .q3: "SELECT o.document \(inBox) AND p.latitude BETWEEN :south AND :north "
            + "AND p.longitude BETWEEN :west AND :east",
        .q4: "SELECT o.document, \(distance) AS d \(filtered) ORDER BY d LIMIT 20",
        .q5: "SELECT o.key, \(distance) AS d \(inBox) AND d <= :radius ORDER BY d LIMIT 10",
        .q6:
            "SELECT document FROM objects WHERE category = :category ORDER BY rating DESC LIMIT 20",
        .q7: "SELECT count(*) \(filtered)",
        .q10: "SELECT o.category, count(*) \(inBox) AND o.rating >= :rating "
            + "AND \(distance) <= :radius GROUP BY o.category ORDER BY 2 DESC, 1",
    ]

    private static let schema = """
        PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -4000000;
        BEGIN;
        CREATE TABLE objects
          (slot INTEGER PRIMARY KEY, key TEXT, category TEXT, rating INTEGER, document TEXT);
        CREATE VIRTUAL TABLE places USING rtree
          (slot, south, north, west, east, +latitude REAL, +longitude REAL);
        """

    private func insert(_ dataset: Dataset) throws {
        let object = SQLiteStatement(
            try prepare("INSERT INTO objects VALUES (:slot, :key, :category, :rating, :document)"))
        let position = SQLiteStatement(
            try prepare("INSERT INTO places VALUES (:slot, :lat, :lat, :lon, :lon, :lat, :lon)"))
        for slot in 0..<dataset.count {
            object.reset()
            object.bind(Double(slot), ":slot")
            object.bind(Dataset.id(slot), ":key")
            object.bind(Dataset.categoryNames[Int(dataset.categories[slot])], ":category")
            object.bind(Double(dataset.ratings[slot]), ":rating")
            object.bind(String(decoding: dataset.document(of: slot), as: UTF8.self), ":document")
            _ = try object.step()
            position.reset()
            position.bind(Double(slot), ":slot")
            position.bind(dataset.positions[slot].coordinate.latitude, ":lat")
            position.bind(dataset.positions[slot].coordinate.longitude, ":lon")
            _ = try position.step()
        }
    }

    private func run(_ statements: String) throws {
        try check(sqlite3_exec(database, statements, nil, nil, nil))
    }

    private func prepare(_ text: String) throws -> OpaquePointer? {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(database, text, -1, &statement, nil))
        return statement
    }

    private func check(_ status: Int32) throws {
        guard status == SQLITE_OK else {
            throw Failure("SQLite: " + String(cString: sqlite3_errmsg(database)))
        }
    }
}

/// `distance(latitude, longitude, latitude, longitude)`, in metres.
private func greatCircle(
    _ context: OpaquePointer?, _ count: Int32,
    _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
    guard let arguments else { return }
    func number(_ at: Int) -> Double { sqlite3_value_double(arguments[at]) }
    sqlite3_result_double(
        context,
        Sphere.meters(
            Coordinate(latitude: number(0), longitude: number(1)),
            Coordinate(latitude: number(2), longitude: number(3))))
}
