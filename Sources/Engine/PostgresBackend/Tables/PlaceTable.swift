import Runtime

/// The table `place`, which has every indexed point as a geography of PostGIS, for people's own SQL
/// and GIS programs. A trigger keeps it up in the transactions that change objects, whichever node
/// runs them.
enum PlaceTable {
    /// Creates the table and its trigger, and fills it, unless it is there.
    ///
    /// - Throws: `.unusable` if the database has no PostGIS.
    static func prepare(
        _ connection: PostgresConnection, _ schema: String, until deadline: Deadline
    ) throws(PostgresFailure) {
        let found = try connection.run(
            [
                PostgresStatement("SELECT to_regclass($1) IS NOT NULL", .text("\(schema).place")),
                PostgresStatement(
                    "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'postgis')"),
                PostgresStatement(
                    """
                    SELECT nspname FROM pg_extension JOIN pg_namespace
                    ON pg_namespace.oid = extnamespace WHERE extname = 'postgis'
                    """),
            ], until: deadline)
        guard !found[0].bool(0, 0) else { return }
        guard found[1].bool(0, 0) else {
            throw .unusable(
                "--postgres-geometry needs PostGIS in the database: as its owner, run "
                    + "CREATE EXTENSION postgis")
        }
        let statements = statements(schema, postgis: found[2].text(0, 0))
        _ = try connection.run(statements.map { PostgresStatement($0) }, until: deadline)
    }

    /// - A point is stored in 20 bytes: the number of its field, latitude and longitude, little-endian
    ///   (`PointsColumn`). The bits of a binary64 number are put together exactly: its fraction is
    ///   below 2^53, and the power of two has no rounding.
    private static func statements(_ schema: String, postgis: String) -> [String] {
        [
            "BEGIN",
            // No node changes an object meanwhile.
            "SELECT FROM head FOR UPDATE",
            """
            CREATE TABLE place (
                creation bigint NOT NULL,
                field text NOT NULL,
                geog \(postgis).geography(Point) NOT NULL
            )
            """,
            "CREATE INDEX place_by_creation ON place (creation)",
            "CREATE INDEX place_by_geog ON place USING gist (geog)",
            """
            CREATE FUNCTION binary64(bytes bytea, start integer) RETURNS float8
            LANGUAGE plpgsql IMMUTABLE STRICT AS $$
            DECLARE
                bits bigint := 0;
                exponent integer;
                fraction bigint;
            BEGIN
                FOR i IN REVERSE 6..0 LOOP
                    bits := bits * 256 + get_byte(bytes, start + i);
                END LOOP;
                exponent := (get_byte(bytes, start + 7) & 127) * 16 + (bits >> 52)::integer;
                fraction := bits & 4503599627370495;
                IF exponent = 0 THEN
                    exponent := 1;
                ELSE
                    fraction := fraction + 4503599627370496;
                END IF;
                -- In two steps, because the least power of two is 2^-1074.
                RETURN fraction::float8 * power(2::float8, greatest(exponent - 1075, -1000))
                    * power(2::float8, least(exponent - 75, 0))
                    * CASE WHEN get_byte(bytes, start + 7) > 127 THEN -1 ELSE 1 END;
            END $$
            """,
            """
            CREATE FUNCTION places(points bytea)
            RETURNS TABLE (field text, geog \(postgis).geography)
            LANGUAGE sql STABLE STRICT AS $$
                SELECT geo_field.path, \(postgis).ST_SetSRID(\(postgis).ST_MakePoint(
                    \(schema).binary64(points, start + 12), \(schema).binary64(points, start + 4)),
                    4326)::\(postgis).geography
                FROM generate_series(0, length(points) - 20, 20) AS start
                    JOIN \(schema).geo_field ON geo_field.number =
                        get_byte(points, start) + get_byte(points, start + 1) * 256
                        + get_byte(points, start + 2) * 65536
                        + get_byte(points, start + 3)::bigint * 16777216
            $$
            """,
            """
            CREATE FUNCTION keep_places() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF TG_OP <> 'INSERT' THEN
                    DELETE FROM \(schema).place WHERE creation = OLD.creation;
                END IF;
                IF TG_OP <> 'DELETE' THEN
                    INSERT INTO \(schema).place
                    SELECT NEW.creation, found.field, found.geog
                    FROM \(schema).places(NEW.points) AS found;
                END IF;
                RETURN NULL;
            END $$
            """,
            """
            CREATE TRIGGER keep_places AFTER INSERT OR DELETE OR UPDATE OF points ON object
            FOR EACH ROW EXECUTE FUNCTION keep_places()
            """,
            """
            INSERT INTO place SELECT object.creation, found.field, found.geog
            FROM object, LATERAL places(object.points) AS found
            """,
            "COMMIT",
        ]
    }
}
