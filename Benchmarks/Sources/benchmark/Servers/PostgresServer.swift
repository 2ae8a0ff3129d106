import Foundation
import SyntheticData
import Workloads

/// PostgreSQL with PostGIS, on a cluster of its own.
///
/// The table `objects` has its key, a GiST index of the geography and one of its degrees for
/// boxes; `made` is the same table with the indexes that were made for category queries besides.
/// Rows lie in the order of their geohash.
final class PostgresServer: Server {
    let name = "postgis"
    let framing = Framing.postgres
    let version: String
    let port: Int
    private(set) var process: ChildProcess?
    private let folder: String
    private let withMade: Bool

    private static let binaries = "/usr/lib/postgresql/15/bin/"
    /// PostgreSQL does not run as root.
    private static let user = "postgres"

    /// - Parameter withMade: whether the second table is wanted.
    init(_ workspace: Workspace, withMade: Bool) throws {
        folder = try workspace.newFolder("postgres")
        port = try freePort()
        self.withMade = withMade
        version =
            try ChildProcess.run([Self.binaries + "postgres", "--version"])
            .trimmingCharacters(in: .newlines)
    }

    func load(_ dataset: Dataset) throws -> LoadFacts {
        if geteuid() == 0 { try ChildProcess.run(["chown", Self.user, folder]) }
        try ChildProcess.run(
            [
                Self.binaries + "initdb", "-D", folder + "/data", "-U", "postgres", "-A", "trust",
                "-E", "UTF8", "--locale=C", "--no-sync",
            ], user: Self.user)
        var facts = LoadFacts()
        _ = try start()
        let rows = folder + "/objects.tsv"
        try dataset.writeLines(to: rows) { object, line in
            let position = dataset.positions[object].coordinate
            let category = Dataset.categoryNames[Int(dataset.categories[object])]
            let columns = [
                Dataset.id(object), category, "\(dataset.ratings[object])", "\(position.longitude)",
                "\(position.latitude)", "",
            ]
            line.raw(Array(columns.joined(separator: "\t").utf8))
            // The documents hold no tab, no line break and no backslash.
            dataset.write(object, into: &line)
        }
        facts.loadSeconds = try seconds {
            try psql(Self.fill.replacing("FILE", with: rows) + Self.index("objects"))
        }
        try FileManager.default.removeItem(atPath: rows)
        if withMade { try psql(Self.made) }
        stop()
        facts.startSeconds = try start()
        // As after a while of use: everything is in the server's own buffers.
        let relations =
            "FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace "
            + "WHERE nspname = 'public' AND relkind IN ('r', 'i')"
        try psql("SELECT pg_prewarm(c.oid) \(relations)\n")
        let bytes = try psql("SELECT pg_total_relation_size('objects')\n")
        facts.memoryBytesPerObject =
            (Double(bytes.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0)
            / Double(dataset.count)
        facts.note = "pages of table and indexes, all in shared buffers"
        return facts
    }

    func greet(_ connection: Connection) throws {
        _ = try connection.ask(PostgresMessages.startup(user: "postgres", database: "postgres"))
        // While the tables are still to be made these fail, and nothing needs them.
        for (name, statement) in PostgresPeer.statements(withMade: withMade) {
            _ = try? connection.ask(PostgresMessages.prepare(name, statement))
        }
        // A backend loads PostGIS when it first needs it: not while it is measured.
        let first = "'POINT(0 0)'::geography"
        _ = try? connection.ask(
            PostgresMessages.query("SELECT ST_DWithin(\(first), \(first), 1, false)"))
    }

    /// Starts on the present cluster; seconds until it answered.
    private func start() throws -> Double {
        let settings = [
            "port=\(port)", "listen_addresses=127.0.0.1", "unix_socket_directories=",
            "max_connections=64", "shared_buffers=3GB", "work_mem=64MB",
            "maintenance_work_mem=1GB", "max_wal_size=8GB", "checkpoint_timeout=1h",
            "effective_cache_size=8GB", "random_page_cost=1.1", "autovacuum=off", "jit=off",
            "plan_cache_mode=force_generic_plan",
        ]
        let process = try ChildProcess(
            [Self.binaries + "postgres", "-D", folder + "/data"]
                + settings.flatMap { ["-c", $0] },
            user: Self.user, log: folder + "/log", stopSignal: SIGINT)
        self.process = process
        let connection = try connectPatiently()
        _ = try connection.ask(PostgresMessages.query("SELECT 1"))
        return Double(now() - process.started) / 1e9
    }

    @discardableResult
    private func psql(_ script: String) throws -> String {
        let file = folder + "/script.sql"
        try script.write(toFile: file, atomically: false, encoding: .utf8)
        return try ChildProcess.run([
            "psql", "-h", "127.0.0.1", "-p", "\(port)", "-U", "postgres", "-X", "-q", "-A", "-t",
            "-v", "ON_ERROR_STOP=1", "-f", file,
        ])
    }

    private static let fill = """
        CREATE EXTENSION IF NOT EXISTS postgis;
        CREATE EXTENSION IF NOT EXISTS btree_gist;
        CREATE EXTENSION IF NOT EXISTS pg_prewarm;
        CREATE UNLOGGED TABLE staging
          (key text, category text, rating int, longitude float8, latitude float8, document text);
        \\copy staging from 'FILE'
        CREATE TABLE objects AS
          SELECT key, category, rating, place::geography AS place, document
          FROM (SELECT *, ST_SetSRID(ST_MakePoint(longitude, latitude), 4326) AS place
                FROM staging) AS s
          ORDER BY ST_GeoHash(place, 10);
        DROP TABLE staging;

        """

    private static func index(_ table: String) -> String {
        """
        ALTER TABLE \(table) ADD PRIMARY KEY (key);
        CREATE INDEX ON \(table) USING gist (place);
        CREATE INDEX ON \(table) USING gist ((place::geometry));
        VACUUM (ANALYZE) \(table);

        """
    }

    private static let made =
        "CREATE TABLE made AS SELECT * FROM objects;\n"
        + "CREATE INDEX ON made USING gist (category, place);\n"
        + "CREATE INDEX ON made (category, rating DESC);\n"
        + "VACUUM (ANALYZE) made;\n"
}
