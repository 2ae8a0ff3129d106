import BackendContract
import ObjectStore
import Objects
import WriteRules

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
                Self.wholeTables, Self.headStatement,
            ] + Self.nameStatements(after: nil) + [Self.lastBatchStatement])
        let head = Self.head(rows[2])
        let none = StoreChanges(after: head.change)
        var part = none
        Self.readNames(rows[3], rows[4], into: &part)
        let condition = try buckets.map { try self.condition($0, &part) } ?? "true"
        try body(.changes(part))
        part = none
        let sql = """
            COPY (SELECT \(ObjectColumns.list)
                FROM object JOIN bucket ON bucket.number = object.bucket
                WHERE \(condition) ORDER BY object.creation) TO STDOUT (FORMAT binary)
            """
        try connection.copy(sql, answerTime) { bytes in
            guard let object = try ObjectColumns.object(copied: bytes) else { return }
            part.objects.append(object)
            if part.objects.count == count {
                try body(.changes(part))
                part.objects.removeAll(keepingCapacity: true)
            }
        }
        try body(.changes(part))
        return Tail(
            head: head, past: .known, changes: none, batch: Self.batch(rows[5]))
    }

    /// The objects that a copy passes on at once.
    public static let copiedAtOnce = 10_000

    /// The condition that an object is in one of some buckets, and the buckets that exist. A copy
    /// takes no parameters, so the condition has their numbers.
    private func condition(
        _ buckets: [BucketName], _ part: inout StoreChanges
    ) throws(PostgresFailure) -> String {
        let rows = try run([
            PostgresStatement(
                "SELECT number, name, change FROM bucket WHERE name = ANY ($1)",
                .texts(buckets.map { Optional($0.text) }))
        ])[0]
        part.buckets = (0..<rows.count).map {
            StoreChanges.Bucket(
                name: BucketName(trusted: rows.text($0, 1)),
                change: ChangeNumber(rows.int($0, 2)))
        }
        let numbers = (0..<rows.count).map { "\(rows.int($0, 0))" }
        return "object.bucket = ANY ('{\(numbers.joined(separator: ","))}'::bigint[])"
    }

    /// Passes on the tombstones and requests of the state that is held.
    public func history(_ body: (StorePart) throws -> Void) throws {
        let tombstones = """
            SELECT change, creation, bucket, id, deleted FROM tombstone WHERE change > $1
            ORDER BY change
            """
        try forEachBatch(tombstones) { rows in
            var part = StoreChanges(after: 0)
            Self.readTombstones(rows, into: &part)
            try body(.changes(part))
        }
        let requests = """
            SELECT number, key, time, digest, answer FROM request WHERE number > $1
            ORDER BY number
            """
        try forEachBatch(requests) { rows in
            try body(.requests((0..<rows.count).map { Self.request(rows, $0) }))
        }
    }

    /// - Parameter sql: selects the rows whose first column is greater than the parameter.
    private func forEachBatch(_ sql: String, _ body: (PostgresRows) throws -> Void) throws {
        var last: Int64 = -1
        while true {
            let statement = PostgresStatement("\(sql) LIMIT \(StorePart.count)", .int(last))
            let rows = try run([statement])[0]
            guard rows.count > 0 else { return }
            last = rows.int(rows.count - 1, 0)
            try body(rows)
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
