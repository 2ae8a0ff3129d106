import BackendContract
import EmbeddedBackend
import Objects
import Runtime

/// Reads what was changed after a change: at once if it is little, which costs one round trip, or
/// piece by piece.
extension ClusterTables {
    /// What was changed after a change.
    public struct Tail: Sendable {
        /// The head of the state that the changes lead to.
        public let head: Head
        /// What has become of the batch that led to the former state. If it is known, the tail is
        /// whole, because batches are forgotten before tombstones are.
        public let past: Past
        /// The changes; none if the tail is too long.
        public let changes: StoreChanges
        /// The last batch.
        public let batch: UUIDBytes?
        /// Whether more was changed than is read at once.
        public var isTooLong = false
    }

    /// The bytes of changes that are read at once.
    public static let bytesAtOnce = 1_048_576
    /// What a row counts at least.
    private static let rowBytes = 128

    /// What was changed after a change, at one state, unless it is more than is read at once.
    ///
    /// - Parameters:
    ///   - batch: the batch that led to the change; nil if there was none.
    ///   - filter: what is wanted of the changes; nil for all of them.
    public func tail(
        after change: ChangeNumber, _ batch: UUIDBytes?, _ filter: ChangeFilter? = nil
    ) throws(PostgresFailure) -> Tail {
        let begin =
            Self.begin(after: change, batch) + [
                Self.seenStatement(after: change, from: oldest.deletion)
            ] + Self.changesStatements(after: change, filter)
        let end = [PostgresStatement("COMMIT")]
        guard filter != nil else {
            return try tail(run(begin + end)[1...], inTransactionAfter: nil, nil)
        }
        let tail = try tail(run(begin)[1...], inTransactionAfter: change, filter)
        _ = try run(end)
        return tail
    }

    /// What was changed after a change, at one state, however much it is. The server may take its
    /// time for an answer again and again, as long as objects go on to arrive.
    ///
    /// - Parameters:
    ///   - batch: the batch that led to the change; nil if there was none.
    ///   - filter: what is wanted of the changes; nil for all of them.
    ///   - interrupt: ends the reading with `.unavailable`.
    public func longTail(
        after change: ChangeNumber, _ batch: UUIDBytes?, _ filter: ChangeFilter? = nil,
        unless interrupt: Interrupt? = nil
    ) throws -> Tail {
        let rows = try run(Self.begin(after: change, batch))
        let (head, past) = (Self.head(rows[1]), Self.past(rows[1]))
        let tail = try readTail(after: change, to: head, past, filter, unless: interrupt)
        try release()
        return tail
    }

    /// What was changed after a change, at one state: read at once if that suffices.
    ///
    /// - Parameter beginsLong: called otherwise, with the head that was seen.
    public func wholeTail(
        after change: ChangeNumber, _ batch: UUIDBytes?, _ filter: ChangeFilter? = nil,
        beginsLong: (Head) -> Void = { _ in }
    ) throws -> Tail {
        let tail = try tail(after: change, batch, filter)
        guard tail.isTooLong else { return tail }
        beginsLong(tail.head)
        return try longTail(after: change, batch, filter)
    }

    /// Whether more objects and deletions follow a change than some number.
    ///
    /// - Parameter buckets: the buckets that count; nil for all.
    public func isTail(
        after change: ChangeNumber, longerThan count: Int, in buckets: [BucketName]? = nil
    ) throws(PostgresFailure) -> Bool {
        let names = PostgresParameter.texts(buckets?.map { Optional($0.text) } ?? [])
        let rows = try scan(
            [
                ("object", "ARRAY(SELECT number FROM bucket WHERE name = ANY ($2))"),
                ("tombstone", "$2"),
            ].map { table, counted in
                PostgresStatement(
                    """
                    SELECT count(*) FROM (SELECT FROM \(table) WHERE change > $1
                        AND ($4 OR bucket = ANY (\(counted))) ORDER BY change LIMIT $3) AS counted
                    """, .int(Int64(change)), names, .int(Int64(count) + 1), .bool(buckets == nil))
            })
        return rows[0].int(0, 0) + rows[1].int(0, 0) > count
    }

    private static func begin(
        after change: ChangeNumber, _ batch: UUIDBytes?
    ) -> [PostgresStatement] {
        [
            PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            headStatement(after: change, batch),
        ]
    }

    // MARK: At once

    /// The statements whose rows a tail has after those of the head and the seen lists, from one state
    /// or one after the other.
    ///
    /// - Parameter bytes: the most that is read.
    static func changesStatements(
        after change: ChangeNumber, _ filter: ChangeFilter? = nil, atMost bytes: Int = bytesAtOnce
    ) -> [PostgresStatement] {
        let parameter = PostgresParameter.int(Int64(change))
        let rows = PostgresParameter.int(Int64(bytes / rowBytes) + 1)
        return nameStatements(after: change, rows) + [
            PostgresStatement(deletions, parameter, rows),
            PostgresStatement(
                filter == nil ? changedObjects : changedPlaces, parameter, rows,
                .int(Int64(bytes))),
            lastBatchStatement,
        ]
    }

    /// Reads the rows of the head, the seen lists and the changes.
    ///
    /// - Parameter change: what is read follows it, if the transaction that the rows are from is under
    ///   way, in which lists and what is wanted by the filter are read. With nil it has ended; then
    ///   there is no filter, and a tail with lists is too long.
    func tail(
        _ rows: ArraySlice<PostgresRows>, inTransactionAfter change: ChangeNumber?,
        _ filter: ChangeFilter?, atMost bytes: Int = bytesAtOnce
    ) throws(PostgresFailure) -> Tail {
        let rows = Array(rows)
        let (head, past, lists) = (Self.head(rows[0]), Self.past(rows[0]), SeenLists(rows[1]))
        oldest.deletion = Int64(lists.oldest ?? head.change + 1)
        let objects = rows[5]
        var changes = StoreChanges(after: head.change)
        let size = objects.int(
            0, Int32(filter == nil ? ObjectColumns.count : ChangeFilter.columnCount))
        if max(Int(size), lists.bytes) > bytes || change == nil && lists.missed > 0
            || rows[2...4].contains(where: { $0.count > bytes / Self.rowBytes })
        {
            return Tail(head: head, past: past, changes: changes, batch: nil, isTooLong: true)
        }
        Self.readNames(rows[2], rows[3], into: &changes)
        if let change, lists.missed > 0 {
            // A list that has become tombstones meanwhile is read as those.
            try readLists(after: change, into: &changes)
            try readTombstones(after: change, into: &changes)
        } else {
            Self.readTombstones(rows[4], into: &changes)
        }
        let deleted = lists.missed > 0 ? DeletedObjects(changes) : nil
        let present = Self.found(objects).filter {
            deleted?.contains(ChangeNumber(objects.int($0, 0))) != true
        }
        if let filter {
            filter.apply(to: &changes)
            changes.objects = try self.objects(present, of: objects, filter)
        } else {
            changes.objects = present.map { ObjectColumns.object(objects, $0) }
        }
        return Tail(head: head, past: past, changes: changes, batch: Self.batch(rows[6]))
    }

    private func readTombstones(
        after change: ChangeNumber, into changes: inout StoreChanges
    ) throws(PostgresFailure) {
        var tombstones = Batches(Self.deletions, after: Int64(change))
        while let rows = try tombstones.next(of: self) {
            Self.readTombstones(rows, into: &changes)
        }
        changes.tombstones.sort { $0.change < $1.change }
    }

    /// The rows of a statement of `boundedChanges` that have an object.
    static func found(_ rows: PostgresRows) -> [Int] {
        (0..<rows.count).filter { !rows.isNull($0, 0) }
    }

    /// Some columns of the objects that were changed, and the bytes of these objects: without the
    /// objects if there are more bytes than the limit. There is at least one row.
    static func boundedChanges(_ columns: String) -> String {
        """
        WITH missed AS MATERIALIZED (
            SELECT * FROM object WHERE change > $1 ORDER BY change LIMIT $2
        ), size AS MATERIALIZED (
            SELECT coalesce(
                sum(\(rowBytes) + octet_length(document) + octet_length(points)), 0) AS bytes
            FROM missed
        )
        SELECT \(columns), size.bytes FROM size LEFT JOIN
            (missed AS object JOIN bucket
                ON bucket.number = object.bucket AND (SELECT bytes FROM size) <= $3) ON true
        ORDER BY object.creation
        """
    }

    private static let changedObjects = boundedChanges(ObjectColumns.list)
    private static let changedPlaces = boundedChanges(ChangeFilter.columns)

    static let deletions = """
        SELECT change, creation, bucket, id, deleted FROM tombstone WHERE change > $1
        ORDER BY change LIMIT $2
        """

    static let lastBatchStatement = PostgresStatement(
        "SELECT id FROM batch ORDER BY last_change DESC LIMIT 1")

    /// - Parameters:
    ///   - change: nil for all buckets and field paths.
    ///   - rows: the most that are read; null for all.
    static func nameStatements(
        after change: ChangeNumber?, _ rows: PostgresParameter = .int(nil)
    ) -> [PostgresStatement] {
        let change = PostgresParameter.int(change.map { Int64($0) } ?? -1)
        return [
            PostgresStatement(
                "SELECT \(bucketColumns) FROM bucket WHERE changed > $1 LIMIT $2", change, rows),
            PostgresStatement(
                "SELECT number, path, added FROM geo_field WHERE added > $1 LIMIT $2", change,
                rows),
        ]
    }

    // MARK: Piece by piece

    /// Reads what was changed, in the transaction under way.
    func readTail(
        after change: ChangeNumber, to head: Head, _ past: Past, _ filter: ChangeFilter?,
        unless interrupt: Interrupt? = nil
    ) throws -> Tail {
        let rows = try run(Self.nameStatements(after: change) + [Self.lastBatchStatement])
        var changes = StoreChanges(after: head.change)
        Self.readNames(rows[0], rows[1], into: &changes)
        try readLists(after: change, into: &changes)
        try readTombstones(after: change, into: &changes)
        let deleted = DeletedObjects(changes)
        filter?.apply(to: &changes)
        let buckets = try filter.map { try changedBuckets(after: change, $0) } ?? "true"
        let condition = "object.change > \(change) AND \(buckets)"
        try copyObjects(where: condition, unless: interrupt) { object in
            guard !deleted.contains(object.creation) else { return }
            if filter?.wants(object) ?? true { changes.objects.append(object) }
        }
        // The server does not sort what it could send meanwhile.
        changes.objects.sort { $0.creation < $1.creation }
        return Tail(head: head, past: past, changes: changes, batch: Self.batch(rows[2]))
    }

    /// The condition that an object is in a bucket in which something wanted has changed.
    private func changedBuckets(
        after change: ChangeNumber, _ filter: ChangeFilter
    ) throws(PostgresFailure) -> String {
        let rows = try scan([
            PostgresStatement(
                """
                SELECT bucket.number, max(object.change), bucket.name
                FROM object JOIN bucket ON bucket.number = object.bucket
                WHERE object.change > $1 GROUP BY bucket.number
                """, .int(Int64(change)))
        ])[0]
        return Self.condition(
            (0..<rows.count).filter { filter.wants(rows, $0) }.map { rows.int($0, 0) })
    }

    // MARK: Rows

    static func readNames(
        _ buckets: PostgresRows, _ fields: PostgresRows, into changes: inout StoreChanges
    ) {
        changes.buckets = (0..<buckets.count).map { bucket(buckets, $0) }
        changes.fields = (0..<fields.count).map {
            StoreChanges.Field(
                number: fields.int($0, 0), path: FieldPath(utf8: Array(fields.bytes($0, 1))),
                change: ChangeNumber(fields.int($0, 2)))
        }
    }

    static let bucketColumns = "name, changed, place"

    /// The bucket in a row that begins with `bucketColumns`.
    static func bucket(_ rows: PostgresRows, _ row: Int) -> StoreChanges.Bucket {
        StoreChanges.Bucket(
            name: BucketName(trusted: rows.text(row, 0)), change: ChangeNumber(rows.int(row, 1)),
            place: rows.isNull(row, 2) ? nil : FieldPath(utf8: Array(rows.bytes(row, 2))))
    }

    /// The batch in the row of `lastBatchStatement`.
    static func batch(_ rows: PostgresRows) -> UUIDBytes? {
        rows.count == 0 ? nil : UUIDBytes(rows.bytes(0, 0))
    }

    /// - Parameter first: the first of the columns that `deletions` selects.
    static func readTombstones(
        _ rows: PostgresRows, from first: Int32 = 0, into changes: inout StoreChanges
    ) {
        for row in 0..<rows.count {
            let change = ChangeNumber(rows.int(row, first))
            let bucket = BucketName(trusted: rows.text(row, first + 2))
            if let id = rows.optionalText(row, first + 3) {
                changes.tombstones.append(
                    StoreChanges.Tombstone(
                        change: change, creation: ChangeNumber(rows.int(row, first + 1)),
                        bucket: bucket, id: ObjectID(trusted: id),
                        deleted: rows.int(row, first + 4)))
            } else {
                changes.deletedBuckets.append(
                    StoreChanges.DeletedBucket(name: bucket, change: change))
            }
        }
    }
}
