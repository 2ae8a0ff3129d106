import BackendContract
import EmbeddedBackend

/// Makes empty tables the same as another store.
extension ClusterTransaction {
    /// Locks tables that have never had an object.
    ///
    /// - Throws: `.unusable` for others, which are not changed.
    public convenience init(filling tables: ClusterTables) throws(PostgresFailure) {
        // What follows the head is little, even if the tables are not empty.
        try self.init(tables, after: try tables.head().change, nil, keys: [])
        guard tail.head.change == 0 else {
            throw .unusable(
                "the schema \(tables.schema) is not empty: its last change is "
                    + "\(tail.head.change); nothing was changed. Another schema can be given with "
                    + "--postgres-schema")
        }
        // The other store may take longer to be read.
        _ = try tables.run([ClusterTables.mayBeIdle])
    }

    /// Writes a part of the other store. Buckets and field paths come first.
    public func add(_ part: StorePart) throws(PostgresFailure) {
        switch part {
        case .changes(let changes):
            _ = try tables.run(Self.statements(of: changes, from: tail.head.change))
        case .requests(let requests): _ = try tables.run([FoundRequests.insertion(requests)])
        }
    }

    /// Commits what was added. Nodes that know the empty tables copy them.
    ///
    /// - Parameters:
    ///   - change: the number of the other store's last change.
    ///   - secret: the other store's secret for page keys.
    public func commit(
        filledTo change: ChangeNumber, secret: [UInt8]
    ) throws(PostgresFailure) {
        try end(
            [
                PostgresStatement(
                    "UPDATE setting SET value = $2 WHERE name = $1",
                    .text(ClusterSchema.secretSetting), .bytea(secret)),
                PostgresStatement("UPDATE head SET epoch = gen_random_uuid()"),
                PostgresStatement(
                    "INSERT INTO batch (id, last_change) VALUES (gen_random_uuid(), $1)",
                    .int(Int64(change))),
            ], at: change)
    }
}
