import BackendContract
import EmbeddedBackend
import Objects
import Runtime

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
    /// replicated.
    ///
    /// A statement is planned once, maybe while the tables are empty, and the plan stays while they
    /// grow. So it must not depend on their sizes: rows are found by the indexes, and joined one by
    /// one. What has to read a whole table all the same, as that of the head, counts as so costly
    /// that each execution would be compiled (`jit`).
    ///
    /// Of the settings those are made that the server's version has.
    private static let settings = PostgresStatement(
        """
        SELECT set_config(name, value, false) FROM pg_settings JOIN (VALUES
            ('default_transaction_isolation', 'read committed'), ('client_min_messages', 'warning'),
            ('statement_timeout', '0'), ('transaction_timeout', '0'), ('idle_session_timeout', '0'),
            ('idle_in_transaction_session_timeout', '2000'), ('lock_timeout', '3000'),
            ('enable_seqscan', 'off'), ('enable_hashjoin', 'off'), ('enable_mergejoin', 'off'),
            ('jit', 'off')
        ) AS wanted (name, value) USING (name)
        """)

    /// Lets a transaction wait for as long as something else takes.
    static let mayBeIdle = PostgresStatement("SET LOCAL idle_in_transaction_session_timeout = 0")

    /// Lets a transaction read whole tables in the way that suits their sizes.
    private static let readingWholeTables = PostgresStatement(
        """
        SELECT set_config('enable_seqscan', 'on', true), set_config('enable_hashjoin', 'on', true),
            set_config('enable_mergejoin', 'on', true)
        """)

    var answerDeadline: Deadline { connection.clock.deadline(after: answerTime) }

    var schema: String { address.schema }

    /// The channel on which changes are announced.
    var channel: String { address.channel }

    func run(_ statements: [PostgresStatement]) throws(PostgresFailure) -> [PostgresRows] {
        try connection.run(statements, until: answerDeadline)
    }

    /// Runs statements that may read a large part of a table.
    func scan(_ statements: [PostgresStatement]) throws(PostgresFailure) -> [PostgresRows] {
        try connection.run(
            statements, until: connection.clock.deadline(after: max(answerTime, Self.scanTime)))
    }

    /// The time that the server may take to read a table.
    private static let scanTime = Duration.seconds(600)

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

    static func past(_ rows: PostgresRows, column: Int32 = 2) -> Past {
        Past(rawValue: rows.text(0, column)) ?? .lost
    }

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

    /// Begins to receive what is announced.
    public func listen() throws(PostgresFailure) {
        _ = try run([PostgresStatement("LISTEN \(address.channel)")])
    }

    /// What is announced to all nodes.
    public enum Announcement: Sendable, Equatable {
        /// The head has reached a change.
        case change(ChangeNumber)
        /// What a node lets the others know.
        case message(String)

        init(_ payload: String) {
            self = ChangeNumber(payload).map { .change($0) } ?? .message(payload)
        }
    }

    /// Waits until something is announced.
    ///
    /// - Returns: everything that has arrived; nothing at the deadline.
    public func announcements(
        until deadline: Deadline, unless interrupt: Interrupt
    ) throws(PostgresFailure) -> [Announcement] {
        try connection.notifications(until: deadline, unless: interrupt).map(Announcement.init)
    }

    /// The most bytes of a message. PostgreSQL takes payloads of less than 8,000.
    public static let messageBytes = 7_999

    /// Lets all nodes know something. A message is no number.
    public func announce(_ message: String) throws(PostgresFailure) {
        _ = try run([
            PostgresStatement("SELECT pg_notify($1, $2)", .text(channel), .text(message))
        ])
    }

    /// The present head, and what has become of the batch that led to a change.
    public func head(
        after change: ChangeNumber, _ batch: UUIDBytes?
    ) throws(PostgresFailure) -> (head: Head, past: Past) {
        let rows = try run([Self.headStatement(after: change, batch)])[0]
        return (Self.head(rows), Self.past(rows))
    }

    // MARK: Checking

    /// Holds the present state for `digests`, as long as the connection, and says what was changed
    /// after a change.
    public func snapshot(
        after change: ChangeNumber, _ batch: UUIDBytes?, _ filter: ChangeFilter? = nil
    ) throws -> Tail {
        let rows = try run([
            PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            Self.mayBeIdle, Self.headStatement(after: change, batch),
        ])
        return try readTail(after: change, to: Self.head(rows[2]), Self.past(rows[2]), filter)
    }

    /// The digest of each bucket at the state that is held.
    public func digests() throws(PostgresFailure) -> [BucketName: BucketDigest] {
        let digests = PostgresStatement(
            """
            SELECT bucket.name, count(object.creation), (coalesce(sum(
                    (object.creation::numeric * object.change) % \(BucketDigest.modulus)), 0)
                % \(BucketDigest.modulus))::bigint
            FROM bucket LEFT JOIN (
                SELECT bucket, creation, change FROM object WHERE NOT EXISTS (
                    SELECT FROM (SELECT unnest(creations) AS creation FROM deletion) AS listed
                    WHERE listed.creation = object.creation)
            ) AS object ON object.bucket = bucket.number GROUP BY bucket.name
            """)
        let rows = try scan([Self.readingWholeTables, digests])[1]
        let found = (0..<rows.count).map {
            (
                BucketName(trusted: rows.text($0, 0)),
                BucketDigest(count: Int(rows.int($0, 1)), sum: UInt64(rows.int($0, 2)))
            )
        }
        return Dictionary(uniqueKeysWithValues: found)
    }
}
