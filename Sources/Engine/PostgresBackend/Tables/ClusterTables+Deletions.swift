import BackendContract
import EmbeddedBackend
import Objects
import PersistentStructures

/// Deletions of many objects: lists of them first, in the transaction that deletes them, and their
/// rows later, list by list. Who reads rows of `object` leaves out those that a list names.
extension ClusterTables {
    /// The most objects of a list. Their rows are removed in some milliseconds.
    static let objectsPerList = 256

    /// What a listed object counts of the bytes that are fetched at once: a node takes as long to delete
    /// it as to take over so much.
    static let bytesPerListed = 512

    /// The lists that were seen at the beginning of a transaction.
    struct SeenLists {
        /// The first change of the oldest list; nil if there is none.
        let oldest: ChangeNumber?
        /// The number of objects in lists after the change that the caller has.
        let missed: Int

        init(_ rows: PostgresRows) {
            oldest = rows.optionalInt(0, 0).map { ChangeNumber($0) }
            missed = Int(rows.int(0, 1))
        }

        /// What the objects count of the bytes that are fetched at once.
        var bytes: Int { missed * bytesPerListed }
    }

    /// The row of `SeenLists`.
    ///
    /// - Parameter oldest: no list begins before this change.
    static func seenStatement(after change: ChangeNumber, from oldest: Int64) -> PostgresStatement {
        PostgresStatement(
            """
            SELECT (SELECT min(first_change) FROM deletion WHERE first_change >= $2), coalesce(
                (SELECT sum(cardinality(creations)) FROM deletion WHERE first_change > $1), 0)
            """, .int(Int64(change)), .int(oldest))
    }

    // MARK: Writing

    /// Lists deleted objects. The lists of one deletion follow each other.
    static func listing(_ deletion: ListedDeletion) -> PostgresStatement {
        PostgresStatement(
            """
            INSERT INTO deletion (first_change, bucket, deleted, creations)
            SELECT $1 + start, $2, $3, ($4::bigint[])[start + 1 : start + \(objectsPerList)]
            FROM generate_series(0, cardinality($4::bigint[]) - 1, \(objectsPerList)) AS start
            """, .int(Int64(deletion.firstChange)), .text(deletion.bucket.text),
            .int(deletion.deleted), .ints(deletion.creations.map { Int64($0) }))
    }

    /// Removes rows of listed objects whose ids new objects have. Others may be removing them.
    ///
    /// No part of the statement may be planned by the sizes of tables, so each is told which index to
    /// take. What a list may have in common with the rows that are met is found by binary search.
    static func freeing(_ objects: [StoreChanges.Object]) -> PostgresStatement {
        PostgresStatement(
            """
            WITH met AS MATERIALIZED (
                SELECT array_agg(object.creation ORDER BY object.creation) AS creations,
                    array_agg(new.id ORDER BY object.creation) AS ids
                FROM unnest($1::text[], $2::text[]) AS new (bucket, id) CROSS JOIN LATERAL (
                    SELECT creation FROM object WHERE id = new.id
                        AND bucket = (SELECT number FROM bucket WHERE name = new.bucket) LIMIT 1
                ) AS object
            ), listed AS MATERIALIZED (
                SELECT list.first_change + width_bucket(entry.creation, list.creations) - 1 AS change,
                    entry.creation, list.bucket, list.deleted,
                    met.ids[width_bucket(entry.creation, met.creations)] AS id
                FROM met CROSS JOIN deletion AS list CROSS JOIN LATERAL unnest(met.creations[
                    width_bucket(list.creations[1] - 1, met.creations) + 1 :
                    width_bucket(list.creations[cardinality(list.creations)], met.creations)
                ]) AS entry (creation)
                WHERE met.creations IS NOT NULL AND entry.creation
                    = list.creations[width_bucket(entry.creation, list.creations)]
                ORDER BY entry.creation
            ), gone AS (
                DELETE FROM object WHERE creation = ANY (ARRAY(SELECT creation FROM listed))
            )
            INSERT INTO tombstone (change, creation, bucket, id, deleted)
            SELECT change, creation, bucket, id, deleted FROM listed ON CONFLICT DO NOTHING
            """, .texts(objects.map(\.bucket.text)), .texts(objects.map(\.metadata.id.text)))
    }

    /// Removes a list and the rows of its objects, without the lock of the head: nobody sees a
    /// difference.
    ///
    /// - Returns: whether there may be more lists.
    public func removeListedRows() throws(PostgresFailure) -> Bool {
        let results = try run([
            PostgresStatement("BEGIN"),
            // What a crash of the server brings back is removed again.
            PostgresStatement("SET LOCAL synchronous_commit = off"),
            PostgresStatement(
                """
                WITH list AS (
                    DELETE FROM deletion WHERE first_change = (
                        SELECT first_change FROM deletion WHERE first_change >= $1
                        ORDER BY first_change LIMIT 1 FOR UPDATE SKIP LOCKED)
                    RETURNING first_change, bucket, deleted, creations
                ), gone AS (
                    DELETE FROM object WHERE creation = ANY ((SELECT creations FROM list)::bigint[])
                    RETURNING creation, id
                ), remembered AS (
                    INSERT INTO tombstone (change, creation, bucket, id, deleted)
                    SELECT list.first_change + width_bucket(gone.creation, list.creations) - 1,
                        gone.creation, list.bucket, gone.id, list.deleted
                    FROM gone CROSS JOIN list
                )
                SELECT first_change FROM list
                """, .int(oldest.deletion)),
            PostgresStatement("COMMIT"),
        ])
        return results[2].count > 0
    }

    // MARK: Reading

    /// Reads the lists that follow a change, and the tombstones of objects that came after it and are
    /// listed, in the transaction under way.
    func readLists(
        after change: ChangeNumber, into changes: inout StoreChanges
    ) throws(PostgresFailure) {
        var lists = Batches(Self.lists, after: Int64(change))
        while let rows = try lists.next(of: self) {
            for row in 0..<rows.count { changes.deletions.append(Self.list(rows, row)) }
        }
        guard !changes.deletions.isEmpty else { return }
        var unseen = Batches(Self.unseen, after: Int64(change))
        while let rows = try unseen.next(of: self) {
            Self.readTombstones(rows, from: 1, into: &changes)
        }
    }

    private static let lists = """
        SELECT first_change, bucket, deleted, creations FROM deletion WHERE first_change > $1
        ORDER BY first_change LIMIT $2
        """

    private static let unseen = """
        SELECT entry.creation, deletion.first_change + entry.position - 1, entry.creation,
            deletion.bucket, object.id, deletion.deleted
        FROM deletion CROSS JOIN LATERAL
            unnest(deletion.creations) WITH ORDINALITY AS entry (creation, position)
            CROSS JOIN LATERAL (
                SELECT id FROM object WHERE object.creation = entry.creation LIMIT 1
            ) AS object
        WHERE deletion.first_change > $1 AND entry.creation > $1
        ORDER BY entry.creation LIMIT $2
        """

    private static func list(_ rows: PostgresRows, _ row: Int) -> ListedDeletion {
        ListedDeletion(
            rows.ints(row, 3).map { ChangeNumber($0) },
            in: BucketName(trusted: rows.text(row, 1)), from: ChangeNumber(rows.int(row, 0)),
            at: rows.int(row, 2))
    }

    /// The objects of all lists, in the transaction under way.
    func listedObjects() throws(PostgresFailure) -> DeletedObjects {
        var all = StoreChanges(after: 0)
        var lists = Batches(Self.lists)
        while let rows = try lists.next(of: self) {
            for row in 0..<rows.count { all.deletions.append(Self.list(rows, row)) }
        }
        return DeletedObjects(all)
    }
}

/// Objects that have been deleted, whether their rows are there or not.
struct DeletedObjects {
    /// The changes that created them, in ascending order.
    private let creations: [ChangeNumber]

    init(_ changes: StoreChanges) {
        guard !changes.deletions.isEmpty || !changes.tombstones.isEmpty else {
            creations = []
            return
        }
        creations = (changes.deletions.flatMap(\.creations) + changes.tombstones.map(\.creation))
            .sorted()
    }

    func contains(_ creation: ChangeNumber) -> Bool {
        let next = creations.indices.firstPosition { creations[$0] < creation }
        return next < creations.count && creations[next] == creation
    }
}
