import BackendContract
import EmbeddedBackend
import Objects
import Runtime

/// Reads everything at one state, for a store that is to be the same.
extension ClusterTables {
    /// Holds the present state until `release`, and passes on its buckets and field paths, then its
    /// objects in the order of creation.
    ///
    /// - Parameters:
    ///   - buckets: the names of the buckets that are wanted, as far as they exist; nil for all.
    ///   - count: the most objects that are passed on at once.
    /// - Returns: the state, without changes.
    public func copy(
        only buckets: [BucketName]? = nil, atOnce count: Int = copiedAtOnce,
        _ body: (StorePart) throws -> Void
    ) throws -> Tail {
        let rows = try run(
            [
                PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
                // The other store may take longer to write what is read.
                Self.mayBeIdle, Self.headStatement,
            ] + Self.nameStatements(after: nil) + [Self.lastBatchStatement])
        let head = Self.head(rows[2])
        let none = StoreChanges(after: head.change)
        var part = none
        Self.readNames(rows[3], rows[4], into: &part)
        let condition = try buckets.map { try self.condition($0, &part) } ?? "true"
        let deleted = try listedObjects()
        try body(.changes(part))
        part = none
        var bytes = 0
        try copyObjects(where: condition, "ORDER BY object.creation") { object in
            guard !deleted.contains(object.creation) else { return }
            part.objects.append(object)
            bytes += object.text.count + object.points.count
            guard part.objects.count == count || bytes >= Self.copiedBytesAtOnce else { return }
            try body(.changes(part))
            part.objects.removeAll(keepingCapacity: true)
            bytes = 0
        }
        try body(.changes(part))
        return Tail(
            head: head, past: .known, changes: none, batch: Self.batch(rows[5]))
    }

    /// The objects that a copy passes on at once.
    public static let copiedAtOnce = 10_000
    /// The bytes of documents and points after which it passes on fewer.
    private static let copiedBytesAtOnce = 16 * 1_048_576

    /// Passes on objects, in the transaction under way.
    ///
    /// - Parameters:
    ///   - order: a clause that the server can fulfil by an index, so that it need not sort first.
    ///   - interrupt: ends the copy with `.unavailable`.
    func copyObjects(
        where condition: String, _ order: String = "", unless interrupt: Interrupt? = nil,
        _ body: (StoreChanges.Object) throws -> Void
    ) throws {
        let sql = """
            COPY (SELECT \(ObjectColumns.list)
                FROM object JOIN bucket ON bucket.number = object.bucket
                WHERE \(condition) \(order)) TO STDOUT (FORMAT binary)
            """
        try connection.copy(sql, answerTime) { bytes in
            guard interrupt?.isRaised != true else {
                throw PostgresFailure.unavailable("the copy was interrupted")
            }
            if let object = try ObjectColumns.object(copied: bytes) { try body(object) }
        }
    }

    /// The condition that an object is in one of some buckets, and the buckets that exist. A copy
    /// takes no parameters, so the condition has their numbers.
    private func condition(
        _ buckets: [BucketName], _ part: inout StoreChanges
    ) throws(PostgresFailure) -> String {
        let rows = try run([
            PostgresStatement(
                "SELECT \(Self.bucketColumns), number FROM bucket WHERE name = ANY ($1)",
                .texts(buckets.map { Optional($0.text) }))
        ])[0]
        part.buckets = (0..<rows.count).map { Self.bucket(rows, $0) }
        return Self.condition((0..<rows.count).map { rows.int($0, 3) })
    }

    /// The condition that an object is in one of the buckets with some numbers.
    static func condition(_ numbers: [Int64]) -> String {
        "object.bucket = ANY ('{\(numbers.map { "\($0)" }.joined(separator: ","))}'::bigint[])"
    }

    /// Passes on the tombstones and requests of the state that is held.
    public func history(_ body: (StorePart) throws -> Void) throws {
        var tombstones = Batches(Self.deletions)
        while let rows = try tombstones.next(of: self) {
            var part = StoreChanges(after: 0)
            Self.readTombstones(rows, into: &part)
            try body(.changes(part))
        }
        var listed = StoreChanges(after: 0)
        try readLists(after: 0, into: &listed)
        listed.deletions = []
        try body(.changes(listed))
        let requests = """
            SELECT number, key, time, digest, answer FROM request WHERE number > $1
            ORDER BY number LIMIT $2
            """
        var batches = Batches(requests)
        while let rows = try batches.next(of: self) {
            try body(.requests((0..<rows.count).map { Self.request(rows, $0) }))
        }
    }

    /// Rows in the order of their first column, some at a time.
    struct Batches {
        private let sql: String
        private var last: Int64
        private var isOver = false

        /// - Parameters:
        ///   - sql: selects the rows whose first column is greater than the first parameter, at most as
        ///     many as the second one says.
        ///   - first: the first column of the rows is greater.
        init(_ sql: String, after first: Int64 = -1) { (self.sql, last) = (sql, first) }

        /// The next rows; nil if there are no more.
        mutating func next(of tables: ClusterTables) throws(PostgresFailure) -> PostgresRows? {
            guard !isOver else { return nil }
            let statement = PostgresStatement(sql, .int(last), .int(Int64(StorePart.count)))
            let rows = try tables.run([statement])[0]
            isOver = rows.count < StorePart.count
            guard rows.count > 0 else { return nil }
            last = rows.int(rows.count - 1, 0)
            return rows
        }
    }

    private static func request(
        _ rows: PostgresRows, _ row: Int
    ) -> (key: String, request: RememberedRequest) {
        (
            rows.text(row, 1),
            RememberedRequest(
                time: rows.int(row, 2), digest: Array(rows.bytes(row, 3)),
                answer: Array(rows.bytes(row, 4)))
        )
    }

    /// Lets go of the state that is held.
    public func release() throws(PostgresFailure) { _ = try run([PostgresStatement("COMMIT")]) }
}
