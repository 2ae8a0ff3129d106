import BackendContract
import ObjectStore
import Objects
import Runtime
import WriteRules

/// The tables in PostgreSQL through one connection. Use it on one thread at a time. After
/// `PostgresFailure.unavailable` it is of no more use.
public final class ClusterTables {
    /// The number of the last change, and what identifies the history that led to it.
    public struct Head: Sendable, Equatable {
        /// The number of the last change.
        public let change: ChangeNumber
        /// The epoch, in which change numbers have one meaning.
        public let epoch: UUIDBytes
    }

    let connection: PostgresConnection
    let address: PostgresAddress
    let answerTime: Duration
    /// Whether others had written before the last transaction. If not, the next one asks for their
    /// changes only when it finds that there are some: one that writes alone saves the server half
    /// of its statements.
    var othersWrite = true
    /// Where the tables begin of which old rows are deleted.
    var oldest = OldestRows()

    /// Connects, and creates or migrates the tables.
    ///
    /// - Parameter answerTime: the time that the server may take for an answer.
    public init(
        _ address: PostgresAddress, answerTime: Duration, clock: ServiceClock
    ) throws(PostgresFailure) {
        self.address = address
        self.answerTime = answerTime
        connection = try PostgresConnection(address, clock: clock)
        let deadline = clock.deadline(after: answerTime)
        _ = try connection.run([Self.settings], until: deadline)
        try ClusterSchema.prepare(connection, address, until: deadline)
    }

    /// The settings on which the statements rely, whatever those of the role and the database are.
    ///
    /// What follows the lock of the head has to see what was committed before it was granted. The time
    /// that a statement may take is up to whoever waits for it. A warning tells that a commit was not
    /// replicated. The plan of a statement is made when it is first run, perhaps on a table that has a
    /// row, and kept when it has thousands, so it uses indexes where there are some. Of the settings
    /// those are made that the server's version has.
    private static let settings = PostgresStatement(
        """
        SELECT set_config(name, value, false) FROM pg_settings JOIN (VALUES
            ('default_transaction_isolation', 'read committed'), ('client_min_messages', 'warning'),
            ('statement_timeout', '0'), ('transaction_timeout', '0'), ('idle_session_timeout', '0'),
            ('idle_in_transaction_session_timeout', '2000'), ('lock_timeout', '3000'),
            ('enable_seqscan', 'off'), ('jit', 'off')
        ) AS wanted (name, value) USING (name)
        """)

    /// Prepares a transaction for reading whole tables, and for waiting while something else is done.
    static let wholeTables = PostgresStatement(
        """
        SELECT set_config('idle_in_transaction_session_timeout', '0', true),
            set_config('enable_seqscan', 'on', true)
        """)

    var answerDeadline: Deadline { connection.clock.deadline(after: answerTime) }

    var schema: String { address.schema }

    /// The channel on which changes are announced.
    var channel: String { address.channel }

    func run(_ statements: [PostgresStatement]) throws(PostgresFailure) -> [PostgresRows] {
        try connection.run(statements, until: answerDeadline)
    }

    /// Adds the table `place`, unless it is there.
    ///
    /// - Throws: `.unusable` if the database has no PostGIS.
    public func keepPlaces() throws(PostgresFailure) {
        // Filling the table takes a while if there are many objects.
        try PlaceTable.prepare(
            connection, address.schema, until: connection.clock.deadline(after: .seconds(3_600)))
    }

    // MARK: Looking

    /// The present head.
    public func head() throws(PostgresFailure) -> Head {
        Self.head(try run([Self.headStatement])[0])
    }

    static let headStatement = PostgresStatement("SELECT \(headColumns) FROM head")

    /// The number of the last change.
    static let lastChange = "(SELECT last_change FROM batch ORDER BY last_change DESC LIMIT 1)"
    private static let headColumns = "\(lastChange), epoch"

    static func head(_ rows: PostgresRows) -> Head {
        Head(change: ChangeNumber(rows.int(0, 0)), epoch: UUIDBytes(rows.bytes(0, 1))!)
    }

    /// What has become of a batch.
    public enum Past: String, Sendable {
        /// It is part of the history, or there was none.
        case known
        /// It is older than every batch that is remembered, so nothing is known of it.
        case forgotten
        /// It is not part of the history.
        case lost
    }

    /// The head, and the `Past` of a batch that led to a change.
    static func headStatement(
        after change: ChangeNumber, _ batch: UUIDBytes?
    ) -> PostgresStatement {
        PostgresStatement(headAndPast, .uuid(batch), .int(Int64(change)))
    }

    private static let pastColumn = """
        CASE WHEN $1::uuid IS NULL OR EXISTS (SELECT FROM batch WHERE id = $1) THEN 'known'
            WHEN (SELECT min(last_change) FROM batch) > $2 THEN 'forgotten' ELSE 'lost' END
        """

    private static let headAndPast = "SELECT \(headColumns), \(pastColumn) FROM head"

    static func past(_ rows: PostgresRows) -> Past { Past(rawValue: rows.text(0, 2)) ?? .lost }

    /// Milliseconds since 1970 by the server's clock.
    public func milliseconds() throws(PostgresFailure) -> Int64 {
        try run([
            PostgresStatement("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
        ])[0].int(0, 0)
    }

    /// The secret that authenticates page keys, which all nodes share.
    public func secret() throws(PostgresFailure) -> [UInt8] {
        let rows = try run([
            PostgresStatement(
                "SELECT value FROM setting WHERE name = $1", .text(ClusterSchema.secretSetting))
        ])[0]
        return rows.count == 1 ? Array(rows.bytes(0, 0)) : []
    }

    // MARK: Following

    /// Begins to receive notifications of changes.
    public func listen() throws(PostgresFailure) {
        _ = try run([PostgresStatement("LISTEN \(address.channel)")])
    }

    /// Waits until another change is announced.
    ///
    /// - Returns: its number; nil at the deadline.
    public func waitForChange(
        until deadline: Deadline, unless interrupt: Interrupt
    ) throws(PostgresFailure) -> ChangeNumber? {
        try connection.notification(until: deadline, unless: interrupt).map {
            ChangeNumber($0) ?? .max
        }
    }

    /// What was changed after a change.
    public struct Tail: Sendable {
        /// The head of the state that the changes lead to.
        public let head: Head
        /// What has become of the batch that led to the former state. If it is known, the tail is
        /// whole, because batches are forgotten before tombstones are.
        public let past: Past
        /// The changes.
        public let changes: StoreChanges
        /// The last batch.
        public let batch: UUIDBytes?
    }

    /// The present head, and what has become of the batch that led to a change.
    public func head(
        after change: ChangeNumber, _ batch: UUIDBytes?
    ) throws(PostgresFailure) -> (head: Head, past: Past) {
        let rows = try run([Self.headStatement(after: change, batch)])[0]
        return (Self.head(rows), Self.past(rows))
    }

    /// What was changed after a change, at one state.
    ///
    /// - Parameters:
    ///   - batch: the batch that led to the change; nil if there was none.
    ///   - filter: what is wanted of the changes; nil for all of them.
    public func tail(
        after change: ChangeNumber, _ batch: UUIDBytes?, _ filter: ChangeFilter? = nil
    ) throws(PostgresFailure) -> Tail {
        let begin = [
            PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            Self.headStatement(after: change, batch),
        ]
        let end = [PostgresStatement("COMMIT")]
        let changes = Self.changesStatements(after: change, filter)
        guard filter != nil else { return try tail(run(begin + changes + end)[1...], nil) }
        let tail = try tail(run(begin + changes)[1...], filter)
        _ = try run(end)
        return tail
    }

    /// Reads the rows of the head and the changes. With a filter it fetches what is
    /// wanted, so the transaction that the rows are from must not have ended.
    func tail(
        _ rows: ArraySlice<PostgresRows>, _ filter: ChangeFilter?
    ) throws(PostgresFailure) -> Tail {
        let first = rows.startIndex
        let head = Self.head(rows[first])
        let past = Self.past(rows[first])
        guard let filter else {
            let (changes, last) = Self.changes(rows[(first + 1)...], to: head.change)
            return Tail(head: head, past: past, changes: changes, batch: last)
        }
        var changes = StoreChanges(after: head.change)
        Self.readNames(rows[first + 1], rows[first + 2], into: &changes)
        Self.readTombstones(rows[first + 3], into: &changes)
        filter.apply(to: &changes)
        changes.objects = try objects(in: rows[first + 4], filter)
        return Tail(head: head, past: past, changes: changes, batch: Self.batch(rows[first + 5]))
    }

    /// The statements whose rows `tail(_:_:)` reads, from one state or one after the other.
    static func changesStatements(
        after change: ChangeNumber, _ filter: ChangeFilter? = nil
    ) -> [PostgresStatement] {
        let parameter = PostgresParameter.int(Int64(change))
        return nameStatements(after: change) + [
            PostgresStatement(
                """
                SELECT change, creation, bucket, id, deleted FROM tombstone WHERE change > $1
                ORDER BY change
                """, parameter),
            PostgresStatement(filter == nil ? changedObjects : changedPlaces, parameter),
            lastBatchStatement,
        ]
    }

    private static let changedObjects = """
        SELECT \(ObjectColumns.list) FROM object JOIN bucket ON bucket.number = object.bucket
        WHERE object.change > $1 ORDER BY object.creation
        """

    static let lastBatchStatement = PostgresStatement(
        "SELECT id FROM batch ORDER BY last_change DESC LIMIT 1")

    /// - Parameter change: nil for all buckets and field paths.
    static func nameStatements(after change: ChangeNumber?) -> [PostgresStatement] {
        let change = PostgresParameter.int(change.map { Int64($0) } ?? -1)
        return [
            PostgresStatement("SELECT name, change FROM bucket WHERE change > $1", change),
            PostgresStatement(
                "SELECT number, path, change FROM geo_field WHERE change > $1", change),
        ]
    }

    static func readNames(
        _ buckets: PostgresRows, _ fields: PostgresRows, into changes: inout StoreChanges
    ) {
        changes.buckets = (0..<buckets.count).map {
            StoreChanges.Bucket(
                name: BucketName(trusted: buckets.text($0, 0)),
                change: ChangeNumber(buckets.int($0, 1)))
        }
        changes.fields = (0..<fields.count).map {
            StoreChanges.Field(
                number: fields.int($0, 0), path: FieldPath(utf8: Array(fields.bytes($0, 1))),
                change: ChangeNumber(fields.int($0, 2)))
        }
    }

    static func changes(
        _ rows: ArraySlice<PostgresRows>, to last: ChangeNumber
    ) -> (StoreChanges, batch: UUIDBytes?) {
        var changes = StoreChanges(after: last)
        var rows = rows.makeIterator()
        readNames(rows.next()!, rows.next()!, into: &changes)
        readTombstones(rows.next()!, into: &changes)
        let (objects, batch) = (rows.next()!, rows.next()!)
        changes.objects = (0..<objects.count).map { ObjectColumns.object(objects, $0) }
        return (changes, Self.batch(batch))
    }

    /// The batch in the row of `lastBatchStatement`.
    static func batch(_ rows: PostgresRows) -> UUIDBytes? {
        rows.count == 0 ? nil : UUIDBytes(rows.bytes(0, 0))
    }

    static func readTombstones(_ rows: PostgresRows, into changes: inout StoreChanges) {
        for row in 0..<rows.count {
            let change = ChangeNumber(rows.int(row, 0))
            let bucket = BucketName(trusted: rows.text(row, 2))
            if let id = rows.optionalText(row, 3) {
                changes.tombstones.append(
                    StoreChanges.Tombstone(
                        change: change, creation: ChangeNumber(rows.int(row, 1)),
                        bucket: bucket, id: ObjectID(trusted: id), deleted: rows.int(row, 4)))
            } else {
                changes.deletedBuckets.append(
                    StoreChanges.DeletedBucket(name: bucket, change: change))
            }
        }
    }

    // MARK: Checking

    /// Holds the present state for `digests`, as long as the connection, and says what was changed
    /// after a change.
    public func snapshot(
        after change: ChangeNumber, _ batch: UUIDBytes?, _ filter: ChangeFilter? = nil
    ) throws(PostgresFailure) -> Tail {
        let rows = try run(
            [
                PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
                Self.wholeTables, Self.headStatement(after: change, batch),
            ] + Self.changesStatements(after: change, filter))
        return try tail(rows[2...], filter)
    }

    /// The digest of each bucket at the state that is held.
    public func digests() throws(PostgresFailure) -> [BucketName: BucketDigest] {
        let rows = try run([
            PostgresStatement(
                """
                SELECT bucket.name, count(object.creation), (coalesce(sum(
                        (object.creation::numeric * object.change) % \(BucketDigest.modulus)), 0)
                    % \(BucketDigest.modulus))::bigint
                FROM bucket LEFT JOIN object ON object.bucket = bucket.number GROUP BY bucket.name
                """)
        ])[0]
        let digests = (0..<rows.count).map {
            (
                BucketName(trusted: rows.text($0, 0)),
                BucketDigest(count: Int(rows.int($0, 1)), sum: UInt64(rows.int($0, 2)))
            )
        }
        return Dictionary(uniqueKeysWithValues: digests)
    }
}
