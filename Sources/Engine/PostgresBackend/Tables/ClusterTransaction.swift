import BackendContract
import EmbeddedBackend
import Objects

/// A transaction that excludes those of all other nodes, because it has locked the head. Changes
/// and requests are sent together, when it is committed.
///
/// Ending it without a commit rolls it back.
public final class ClusterTransaction {
    /// What others have changed since the caller's own last change, unless that is too much to be
    /// fetched while the head is locked.
    public let tail: ClusterTables.Tail

    let tables: ClusterTables
    private var requests: FoundRequests
    private var isOpen = true
    /// Whether there may be rows of objects that are listed as deleted.
    private var mayMeetListed = false

    /// Locks the head, and reads what follows a change.
    ///
    /// - Parameters:
    ///   - batch: the batch that led to the change; nil if there was none.
    ///   - keys: the request keys that will probably be looked up.
    ///   - filter: what is wanted of the changes; nil for all of them.
    ///   - bytes: the most bytes of changes that are fetched.
    public init(
        _ tables: ClusterTables, after change: ChangeNumber, _ batch: UUIDBytes?, keys: [String],
        _ filter: ChangeFilter? = nil, atMost bytes: Int = ClusterTables.bytesAtOnce
    ) throws(PostgresFailure) {
        self.tables = tables
        let lock = [
            PostgresStatement("BEGIN"),
            Self.lockStatement,
            // What follows sees everything that was committed before the lock was granted.
            ClusterTables.headStatement(after: change, batch),
            ClusterTables.seenStatement(after: change, from: tables.oldest.deletion),
        ]
        let changes = ClusterTables.changesStatements(after: change, filter, atMost: bytes)
        let looksForChanges = tables.othersWrite
        let rows = try Self.lock(
            tables,
            lock + (looksForChanges ? changes : [])
                + (keys.isEmpty
                    ? [] : FoundRequests.statements(keys: keys, from: tables.oldest.request)))
        requests = FoundRequests()
        if !keys.isEmpty {
            tables.oldest.request =
                requests.take(rows.suffix(2), keys: keys) ?? tables.oldest.request
        }
        let head = ClusterTables.head(rows[2])
        tables.othersWrite = head.change != change
        if !tables.othersWrite {
            let lists = ClusterTables.SeenLists(rows[3])
            tables.oldest.deletion = Int64(lists.oldest ?? head.change + 1)
            tail = ClusterTables.Tail(
                head: head, past: ClusterTables.past(rows[2]),
                changes: StoreChanges(after: change), batch: batch)
        } else if looksForChanges {
            tail = try tables.tail(
                rows[2...8], inTransactionAfter: change, filter, atMost: bytes)
        } else {
            tail = try tables.tail(
                rows[2...3] + tables.run(changes), inTransactionAfter: change, filter,
                atMost: bytes)
        }
        mayMeetListed = ClusterTables.SeenLists(rows[3]).oldest != nil
    }

    fileprivate static let lockStatement = PostgresStatement(
        "SELECT FROM head FOR UPDATE")

    /// Runs the statements that begin with the lock of the head.
    ///
    /// A node that hangs, or is cut off, while it sends a commit keeps the lock:
    /// `idle_in_transaction_session_timeout` counts only between two pipelines. So whoever has
    /// waited for too long ends sessions that have the lock and have sent nothing for two seconds.
    fileprivate static func lock(
        _ tables: ClusterTables, _ statements: [PostgresStatement]
    ) throws(PostgresFailure) -> [PostgresRows] {
        do throws(PostgresFailure) {
            return try tables.run(statements)
        } catch .locked {
            _ = try tables.run([
                PostgresStatement("ROLLBACK"),
                PostgresStatement(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity JOIN pg_locks USING (pid)
                    WHERE datname = current_database() AND relation = 'head'::regclass
                        AND mode = 'RowShareLock' AND granted AND wait_event = 'ClientRead'
                        AND state_change < now() - interval '2 seconds'
                    """),
            ])
            throw .unavailable("another node holds the lock of the head")
        }
    }

    deinit { cancel() }

    /// Whether requests were remembered or forgotten.
    public var hasRequests: Bool { requests.hasChanged }

    /// Ends the transaction without a change, when everything that it has seen is where commits have
    /// to be: with the lock of the head it has written too, so its commit waits for the standbys.
    ///
    /// - Throws: after any failure what it has seen may be lost with the server.
    public func confirm() throws(PostgresFailure) {
        isOpen = false
        _ = try tables.run([PostgresStatement("COMMIT")])
    }

    /// Ends the transaction without a change.
    public func cancel() {
        guard isOpen else { return }
        isOpen = false
        _ = try? tables.run([PostgresStatement("ROLLBACK")])
    }

    /// Writes changes and the batch, with which the head advances, and tells the other nodes.
    ///
    /// - Parameter batch: the new batch's id.
    /// - Throws: after `.unavailable` the transaction may or may not have been done; the batch tells
    ///   which. After any other failure it was not.
    public func commit(_ changes: StoreChanges, as batch: UUIDBytes) throws(PostgresFailure) {
        let last = Int64(changes.change)
        try end(
            Self.statements(
                of: changes, from: tail.head.change, mayMeetListed: mayMeetListed)
                + requests.statements(from: tables.oldest.request) + [
                    PostgresStatement(
                        "INSERT INTO batch (id, last_change) VALUES ($1, $2)", .uuid(batch),
                        .int(last))
                ], at: changes.change)
    }

    /// Runs the last statements of the transaction, commits, and tells the other nodes.
    ///
    /// - Parameter change: the new head.
    func end(
        _ statements: [PostgresStatement], at change: ChangeNumber
    ) throws(PostgresFailure) {
        isOpen = false
        do throws(PostgresFailure) {
            _ = try tables.run(
                statements + [
                    PostgresStatement(
                        "SELECT pg_notify($1, $2)", .text(tables.channel), .text("\(change)")),
                    PostgresStatement("COMMIT"),
                ])
        } catch {
            if case .unavailable = error { throw error }
            _ = try? tables.run([PostgresStatement("ROLLBACK")])
            throw error
        }
    }

    /// The statements that write changes, each of one kind for all objects.
    ///
    /// - Parameter mayMeetListed: whether there may be rows of objects that are listed as deleted.
    static func statements(
        of changes: StoreChanges, from head: ChangeNumber, mayMeetListed: Bool = false
    ) -> [PostgresStatement] {
        // What came and went within the transaction leaves only its tombstone.
        let inserted = changes.objects.filter { $0.creation > head }
        let updated = changes.objects.filter { $0.creation <= head }
        let isToFree = !inserted.isEmpty && (mayMeetListed || !changes.deletions.isEmpty)
        return deletions(changes) + additions(changes)
            + (updated.isEmpty ? [] : [update(updated)])
            + (isToFree ? [ClusterTables.freeing(inserted)] : [])
            + (inserted.isEmpty ? [] : [insertion(inserted)])
    }

    private static func deletions(_ changes: StoreChanges) -> [PostgresStatement] {
        var statements = changes.deletions.map(ClusterTables.listing)
        let tombstones = changes.tombstones
        if !tombstones.isEmpty {
            statements.append(
                PostgresStatement(
                    "DELETE FROM object WHERE creation = ANY ($1)",
                    .ints(tombstones.map { Int64($0.creation) })))
            statements.append(
                PostgresStatement(
                    """
                    INSERT INTO tombstone (change, creation, bucket, id, deleted)
                    SELECT * FROM unnest(
                        $1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[])
                    """,
                    .ints(tombstones.map { Int64($0.change) }),
                    .ints(tombstones.map { Int64($0.creation) }),
                    .texts(tombstones.map(\.bucket.text)), .texts(tombstones.map(\.id.text)),
                    .ints(tombstones.map(\.deleted))))
        }
        for bucket in changes.deletedBuckets {
            statements.append(
                PostgresStatement("DELETE FROM bucket WHERE name = $1", .text(bucket.name.text)))
            statements.append(
                PostgresStatement(
                    """
                    INSERT INTO tombstone (change, creation, bucket, deleted)
                    VALUES ($1, 0, $2, (extract(epoch FROM now()) * 1000)::bigint)
                    """, .int(Int64(bucket.change)), .text(bucket.name.text)))
        }
        return statements
    }

    private static func additions(_ changes: StoreChanges) -> [PostgresStatement] {
        changes.buckets.map {
            PostgresStatement(
                """
                INSERT INTO bucket (name, changed, place) VALUES ($1, $2, $3)
                ON CONFLICT (name) DO UPDATE SET changed = excluded.changed, place = excluded.place
                """, .text($0.name.text), .int(Int64($0.change)), .text($0.place?.text))
        }
            + changes.fields.map {
                PostgresStatement(
                    "INSERT INTO geo_field (number, path, added) VALUES ($1, $2, $3)",
                    .int($0.number), .text($0.path.text), .int(Int64($0.change)))
            }
    }

    private static func insertion(_ objects: [StoreChanges.Object]) -> PostgresStatement {
        PostgresStatement(
            """
            INSERT INTO object (creation, bucket, id, change, version, created, modified, owner,
                data_type, expires, points, document)
            SELECT n.creation, bucket.number, n.id, n.change, n.version, n.created, n.modified,
                n.owner, n.data_type, n.expires, n.points, n.document
            FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[],
                    $6::bigint[], $7::bigint[], $8::text[], $9::text[], $10::bigint[],
                    $11::bytea[], $12::text[])
                AS n (creation, bucket, id, change, version, created, modified, owner, data_type,
                    expires, points, document)
                JOIN bucket ON bucket.name = n.bucket
            """,
            .ints(objects.map { Int64($0.creation) }), .texts(objects.map(\.bucket.text)),
            .texts(objects.map(\.metadata.id.text)), .ints(objects.map { Int64($0.change) }),
            .ints(objects.map(\.metadata.version)), .ints(objects.map(\.metadata.created)),
            .ints(objects.map(\.metadata.modified)), .texts(objects.map(\.metadata.owner)),
            .texts(objects.map(\.metadata.dataType)), .ints(objects.map(\.metadata.expires)),
            .byteas(objects.map(\.points)), .texts(objects.map(\.text)))
    }

    private static func update(_ objects: [StoreChanges.Object]) -> PostgresStatement {
        PostgresStatement(
            """
            UPDATE object SET change = n.change, version = n.version, modified = n.modified,
                expires = n.expires, points = n.points, document = n.document
            FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],
                    $6::bytea[], $7::text[])
                AS n (creation, change, version, modified, expires, points, document)
            WHERE object.creation = n.creation
            """,
            .ints(objects.map { Int64($0.creation) }), .ints(objects.map { Int64($0.change) }),
            .ints(objects.map(\.metadata.version)), .ints(objects.map(\.metadata.modified)),
            .ints(objects.map(\.metadata.expires)), .byteas(objects.map(\.points)),
            .texts(objects.map(\.text)))
    }
}

extension ClusterTables {
    /// Whether a batch was done whose answer was lost.
    ///
    /// A transaction that has not ended still holds the lock of the head, so there is an answer when
    /// this one has it. A batch that is there may be on this server alone: the wait for a standby ends
    /// with a session or a server. So the look writes what it has found, and its commit, which comes
    /// after the batch's, waits for the standbys instead.
    public func confirm(_ batch: UUIDBytes) throws(PostgresFailure) -> Bool {
        let rows = try ClusterTransaction.lock(
            self,
            [
                PostgresStatement("BEGIN"), ClusterTransaction.lockStatement,
                PostgresStatement(
                    "UPDATE batch SET at = now() WHERE id = $1 RETURNING id", .uuid(batch)),
                PostgresStatement("COMMIT"),
            ])
        return rows[2].count > 0
    }
}

// MARK: Requests

/// The writes that were done under a key. What is looked up for the first time after the
/// transaction has begun costs a round trip.
extension ClusterTransaction: RequestLedger {
    /// The write that is remembered under a key; nil if there is none.
    public func request(key: String) throws -> RememberedRequest? {
        try look(for: key)
        return requests.found[key] ?? nil
    }

    private func look(for key: String) throws(PostgresFailure) {
        guard !requests.isKnown(key) else { return }
        let statements = FoundRequests.statements(keys: [key], from: tables.oldest.request)
        _ = requests.take(try tables.run(statements)[...], keys: [key])
    }

    /// Remembers a request and forgets an older one with the same key.
    public func remember(_ request: RememberedRequest, key: String) {
        requests.remember(request, key: key)
    }

    /// Whether at least so many requests are remembered, by the numbers of the oldest and the latest:
    /// gaps between them count too.
    ///
    /// What is to be forgotten is forgotten at once if it makes room, which costs a round trip.
    public func remembers(atLeast count: Int) throws -> Bool {
        guard requests.count >= count else { return false }
        let from = tables.oldest.request
        if let statements = requests.takeForgetting(from: from) {
            _ = requests.takeTotals(try tables.run(statements + [FoundRequests.totals(from)])[1])
        }
        return requests.count >= count
    }

    /// The time of the oldest remembered request, in milliseconds since 1970; nil if there is none.
    public func oldestRequestTime() -> Int64? { requests.oldest }

    /// Forgets at most `count` of the oldest requests, and only those that are not after `time`, in
    /// milliseconds since 1970. They are forgotten with the commit.
    public func deleteRequests(until time: Int64, atMost count: Int) {
        requests.forgotten = (time, (requests.forgotten?.count ?? 0) + count)
    }
}
