/// What a node needs of the server and of its role, beside the tables.
extension ClusterTables {
    /// Finds out whether a node can do its work, before it says that it is ready.
    ///
    /// - Returns: a sentence for each setting of the server that weakens what a node promises.
    /// - Throws: `.unusable` for what makes its work impossible. The text says what to do.
    public func checkRequirements() throws(PostgresFailure) -> [String] {
        try checkSession()
        try checkRights()
        return try weaknesses()
    }

    // MARK: Sessions

    /// Prepared statements, settings and notifications are those of a session.
    private func checkSession() throws(PostgresFailure) {
        let process = try run([Self.process])[0].int(0, 0)
        // Otherwise there is a pooler. A session that it keeps for this connection is given to no
        // other one meanwhile.
        guard process != connection.announcedProcess else { return }
        let other = try PostgresConnection(address, clock: connection.clock)
        let begun = try other.run(
            [PostgresStatement("BEGIN"), Self.process], until: answerDeadline)
        guard begun[1].int(0, 0) != process, try run([Self.process])[0].int(0, 0) == process else {
            throw .sharedSessions
        }
    }

    private static let process = PostgresStatement("SELECT pg_backend_pid()::bigint")

    // MARK: Rights

    /// What a node does with its tables. `place` is there only if points are kept as geographies.
    private static let rights = [
        "setting": ["SELECT"], "head": ["SELECT", "UPDATE"],
        "bucket": ["SELECT", "INSERT", "DELETE"], "geo_field": ["SELECT", "INSERT"],
        "object": ["SELECT", "INSERT", "UPDATE", "DELETE"],
        "tombstone": ["SELECT", "INSERT", "DELETE"],
        "batch": ["SELECT", "INSERT", "UPDATE", "DELETE"],
        "request": ["SELECT", "INSERT", "DELETE"],
        "deletion": ["SELECT", "INSERT", "UPDATE", "DELETE"],
        "node": ["SELECT", "INSERT", "UPDATE", "DELETE"], "place": ["SELECT", "INSERT", "DELETE"],
    ]

    private func checkRights() throws(PostgresFailure) {
        let needed = Self.rights.flatMap { table, rights in rights.map { (table, $0) } }
        let found = try run([
            PostgresStatement(
                """
                SELECT quote_ident(current_user),
                    string_agg(format('%s on %s', privilege, name), ', ' ORDER BY name, privilege)
                FROM unnest($1::text[], $2::text[]) AS needed (name, privilege)
                WHERE NOT has_table_privilege(to_regclass(name), privilege)
                """, .texts(needed.map(\.0)), .texts(needed.map(\.1)))
        ])[0]
        guard let missing = found.optionalText(0, 1) else { return }
        let role = found.text(0, 0)
        throw .unusable(
            "the role \(role) lacks \(missing) in the schema \(schema); as the owner of the "
                + "tables, run GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "
                + "\(schema) TO \(role)")
    }

    // MARK: Promises

    private static let weaknesses = [
        (
            "current_setting('synchronous_commit') = 'off'",
            "synchronous_commit is off in PostgreSQL: its loss of power loses answered writes; turn it "
                + "on for the role of the nodes"
        ),
        (
            """
            current_setting('synchronous_commit') = 'local'
                AND current_setting('synchronous_standby_names') <> ''
            """,
            "synchronous_commit is local in PostgreSQL: a failover loses answered writes; turn it on "
                + "for the role of the nodes"
        ),
        (
            "current_setting('fsync') = 'off'",
            "fsync is off in PostgreSQL: a crash of its machine may destroy the database; turn it on"
        ),
    ]

    private func weaknesses() throws(PostgresFailure) -> [String] {
        let conditions = Self.weaknesses.map(\.0).joined(separator: ", ")
        let rows = try run([PostgresStatement("SELECT \(conditions)")])[0]
        return Self.weaknesses.indices.filter { rows.bool(0, Int32($0)) }.map {
            Self.weaknesses[$0].1
        }
    }
}
