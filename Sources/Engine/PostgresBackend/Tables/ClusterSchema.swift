import Runtime

/// The tables in PostgreSQL, and the migrations from earlier versions.
///
/// A migration is never edited. A change of the schema is a new one.
enum ClusterSchema {
    /// The number of the last migration.
    static var version: Int { migrations.count }

    /// The oldest server whose statements these are: 15.0.
    static let oldestServer = 150_000

    /// - `head` has one row: the epoch, in which numbers have one meaning. Its lock orders all writes.
    ///   Transactions do not change it: a row that each of them replaced would leave a dead row each,
    ///   and as long as any transaction in the database is open, every look has to pass all of them.
    /// - `object`, `geo_field` and `request` are as in the embedded store.
    /// - `tombstone` has a row without an id, and creation 0, for each deleted bucket.
    /// - `bucket.changed` is a change of the transaction that created the bucket or changed its place,
    ///   and `geo_field.added` one of the transaction that added the path.
    /// - `deletion` has lists of objects that are deleted and whose rows are still to be removed:
    ///   `first_change` deleted the first of them, the next changes the others, and `creations` are the
    ///   changes that created them, in ascending order.
    /// - `batch` has the transactions that led to the states of the last hour, so that a node finds
    ///   out whether its state is one of them, and whether a transaction was done whose answer it has
    ///   not received. The newest one, which is always there, has the number of the last change.
    /// - `node` has the nodes that hold a part of the buckets: their addresses for clients and for
    ///   other nodes, how many buckets they still have to load, and when they were last seen.
    static let migrations = [
        """
        CREATE TABLE setting (name text PRIMARY KEY, value bytea NOT NULL);
        CREATE TABLE head (
            one boolean PRIMARY KEY DEFAULT true CHECK (one),
            change bigint NOT NULL,
            epoch uuid NOT NULL
        );
        INSERT INTO head (change, epoch) VALUES (0, gen_random_uuid());
        CREATE TABLE bucket (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text NOT NULL UNIQUE,
            change bigint NOT NULL
        );
        CREATE INDEX bucket_by_change ON bucket (change);
        CREATE TABLE geo_field (
            number bigint PRIMARY KEY,
            path text NOT NULL UNIQUE,
            change bigint NOT NULL
        );
        CREATE TABLE object (
            creation bigint PRIMARY KEY,
            bucket bigint NOT NULL,
            id text NOT NULL,
            change bigint NOT NULL,
            version bigint NOT NULL,
            created bigint NOT NULL,
            modified bigint NOT NULL,
            owner text,
            data_type text,
            expires bigint,
            points bytea NOT NULL,
            document text NOT NULL,
            UNIQUE (bucket, id)
        );
        CREATE INDEX object_by_change ON object (change);
        CREATE TABLE tombstone (
            change bigint PRIMARY KEY,
            creation bigint NOT NULL,
            bucket text NOT NULL,
            id text,
            deleted bigint NOT NULL
        );
        CREATE TABLE batch (
            id uuid PRIMARY KEY,
            last_change bigint NOT NULL,
            at timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX batch_by_change ON batch (last_change);
        CREATE TABLE request (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            key text NOT NULL UNIQUE,
            time bigint NOT NULL,
            digest bytea NOT NULL,
            answer bytea NOT NULL
        );
        """,
        """
        CREATE TABLE node (
            id uuid PRIMARY KEY,
            client text NOT NULL,
            peer text NOT NULL,
            loading bigint NOT NULL,
            seen timestamptz NOT NULL
        );
        """,
        // Statements of earlier programs fail from here on. The table is written anew without the dead
        // rows that it may have.
        """
        LOCK TABLE head IN ACCESS EXCLUSIVE MODE;
        INSERT INTO batch (id, last_change)
            SELECT gen_random_uuid(), change FROM head
            WHERE NOT EXISTS (SELECT FROM batch WHERE last_change = change);
        ALTER TABLE head DROP COLUMN change;
        CLUSTER head USING head_pkey;
        """,
        // Statements of programs that do not know places fail from here on.
        """
        ALTER TABLE bucket ADD COLUMN place text;
        ALTER TABLE bucket RENAME COLUMN change TO changed;
        """,
        // Statements of programs that do not know lists fail from here on, once there may be one. A list
        // is searched by many statements, so it lies in its row.
        """
        CREATE TABLE deletion (
            first_change bigint PRIMARY KEY,
            bucket text NOT NULL,
            deleted bigint NOT NULL,
            creations bigint[] NOT NULL
        );
        ALTER TABLE deletion ALTER COLUMN creations SET STORAGE PLAIN;
        ALTER TABLE geo_field RENAME COLUMN change TO added;
        """,
    ]

    /// Creates or migrates the tables, unless they are as this program needs them.
    ///
    /// - Throws: `.unusable` for a server that is too old, for a database of another encoding, and
    ///   for tables of a later version. `.unavailable` if somebody uses tables that are to be migrated.
    static func prepare(
        _ connection: PostgresConnection, _ address: PostgresAddress,
        until deadline: Deadline
    ) throws(PostgresFailure) {
        do throws(PostgresFailure) {
            try make(connection, address, until: deadline)
        } catch .locked {
            throw .unavailable(
                "the tables have to be migrated, and another session, such as pg_dump, uses them")
        }
    }

    private static func make(
        _ connection: PostgresConnection, _ address: PostgresAddress,
        until deadline: Deadline
    ) throws(PostgresFailure) {
        try checkServer(connection, until: deadline)
        let schema = address.schema
        try selectSchema(connection, schema, until: deadline)
        if try version(connection, schema, until: deadline) == version { return }
        let isThere = try connection.run(
            [
                PostgresStatement("BEGIN"),
                // Nodes that start together take turns.
                PostgresStatement("SELECT pg_advisory_xact_lock(5137427421)"),
                PostgresStatement(
                    "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", .text(schema)),
            ], until: deadline)[2].bool(0, 0)
        // A role may have all rights in a schema, and none to create one.
        if !isThere { try run("CREATE SCHEMA \(schema)", connection, until: deadline) }
        let present = try version(connection, schema, until: deadline)
        for migration in migrations.dropFirst(present) {
            for part in migration.split(separator: ";") where !part.allSatisfy(\.isWhitespace) {
                try run(String(part), connection, until: deadline)
            }
        }
        try storeSettings(connection, until: deadline)
        try run("COMMIT", connection, until: deadline)
    }

    private static func run(
        _ sql: String, _ connection: PostgresConnection, until deadline: Deadline
    ) throws(PostgresFailure) {
        _ = try connection.run([PostgresStatement(sql)], until: deadline)
    }

    private static func storeSettings(
        _ connection: PostgresConnection, until deadline: Deadline
    ) throws(PostgresFailure) {
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        _ = try connection.run(
            [
                PostgresStatement(
                    """
                    INSERT INTO setting VALUES ($1, $2)
                    ON CONFLICT (name) DO UPDATE SET value = excluded.value
                    """, .text(versionSetting), .bytea(Array("\(version)".utf8))),
                PostgresStatement(
                    "INSERT INTO setting VALUES ($1, $2) ON CONFLICT DO NOTHING",
                    .text(secretSetting), .bytea(secret)),
            ], until: deadline)
    }

    private static let versionSetting = "schema version"
    /// The same name as in the embedded store.
    static let secretSetting = "page key secret"

    /// The version of the tables; 0 if there are none.
    ///
    /// - Throws: `.unusable` for tables of a later version, or of another program.
    private static func version(
        _ connection: PostgresConnection, _ schema: String,
        until deadline: Deadline
    ) throws(PostgresFailure) -> Int {
        let isThere = try connection.run(
            [PostgresStatement("SELECT to_regclass($1) IS NOT NULL", .text("\(schema).setting"))],
            until: deadline)[0].bool(0, 0)
        guard isThere else { return 0 }
        let rows = try connection.run(
            [PostgresStatement("SELECT value FROM setting WHERE name = $1", .text(versionSetting))],
            until: deadline)[0]
        guard rows.count == 1, let found = Int(rows.text(0, 0)) else {
            throw .unusable(
                "the schema \(schema) has tables of another program; give another schema with "
                    + "--postgres-schema")
        }
        guard found <= version else {
            throw .unusable(
                "the tables in the schema \(schema) were made by a newer geobucket (version "
                    + "\(found), this one knows \(version)); nothing was changed")
        }
        return found
    }

    private static func checkServer(
        _ connection: PostgresConnection, until deadline: Deadline
    ) throws(PostgresFailure) {
        guard connection.serverVersion >= oldestServer else {
            throw .unusable(
                "PostgreSQL 15 or later is needed, this server is version "
                    + "\(connection.serverVersion / 10_000)")
        }
        let encoding = try connection.run(
            [PostgresStatement("SHOW server_encoding")], until: deadline)[0].text(0, 0)
        guard encoding == "UTF8" else {
            throw .unusable("the database's encoding is \(encoding); create one with UTF8")
        }
    }

    /// Selects the schema for all further statements of a connection.
    static func selectSchema(
        _ connection: PostgresConnection, _ schema: String, until deadline: Deadline
    ) throws(PostgresFailure) {
        _ = try connection.run(
            [PostgresStatement("SELECT set_config('search_path', $1, false)", .text(schema))],
            until: deadline)
    }
}
