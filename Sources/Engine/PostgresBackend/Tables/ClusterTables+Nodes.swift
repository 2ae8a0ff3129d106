import BackendContract
import EmbeddedBackend
import Objects

/// The nodes that hold a part of the buckets.
extension ClusterTables {
    /// A node as it announces itself.
    public struct Node: Sendable, Hashable {
        /// Identifies the node, over its restarts too.
        public let id: UUIDBytes
        /// `HOST:PORT` for clients.
        public let client: String
        /// `HOST:PORT` for other nodes.
        public let peer: String
        /// The number of buckets that it still has to load.
        public var loading = 0

        /// Stores its arguments.
        public init(id: UUIDBytes, client: String, peer: String, loading: Int = 0) {
            self.id = id
            self.client = client
            self.peer = peer
            self.loading = loading
        }
    }

    /// Notes that a node is alive, and returns all that are.
    ///
    /// - Parameter timeout: a node that has not been seen for so many milliseconds is dead, by the
    ///   server's clock.
    public func beat(_ node: Node, timeout: Int) throws(PostgresFailure) -> [Node] {
        let rows = try run([
            PostgresStatement(
                """
                INSERT INTO node (id, client, peer, loading, seen)
                VALUES ($1, $2, $3, $4, clock_timestamp())
                ON CONFLICT (id) DO UPDATE
                    SET client = excluded.client, peer = excluded.peer,
                        loading = excluded.loading, seen = excluded.seen
                """, .uuid(node.id), .text(node.client), .text(node.peer),
                .int(Int64(node.loading))),
            Self.livingStatement(timeout),
        ])
        return Self.nodes(rows[1])
    }

    /// The nodes that are alive.
    public func nodes(timeout: Int) throws(PostgresFailure) -> [Node] {
        Self.nodes(try run([Self.livingStatement(timeout)])[0])
    }

    /// Removes a node that stops, and nodes that have been dead for an hour.
    public func remove(_ id: UUIDBytes) throws(PostgresFailure) {
        _ = try run([
            PostgresStatement(
                "DELETE FROM node WHERE id = $1 OR seen < clock_timestamp() - interval '1 hour'",
                .uuid(id))
        ])
    }

    private static func livingStatement(_ timeout: Int) -> PostgresStatement {
        PostgresStatement(
            """
            SELECT id, client, peer, loading FROM node
            WHERE seen > clock_timestamp() - $1 * interval '1 millisecond' ORDER BY id
            """, .int(Int64(timeout)))
    }

    private static func nodes(_ rows: PostgresRows) -> [Node] {
        (0..<rows.count).map {
            Node(
                id: UUIDBytes(rows.bytes($0, 0))!, client: rows.text($0, 1),
                peer: rows.text($0, 2), loading: Int(rows.int($0, 3)))
        }
    }

    // MARK: Buckets

    /// All buckets.
    public func buckets() throws(PostgresFailure) -> [StoreChanges.Bucket] {
        let rows = try run([PostgresStatement("SELECT \(Self.bucketColumns) FROM bucket")])[0]
        return (0..<rows.count).map { Self.bucket(rows, $0) }
    }

    /// The names of the buckets of a scope.
    public func bucketNames(in scope: BucketScope) throws(PostgresFailure) -> [BucketName] {
        let rows = try run([
            PostgresStatement(
                "SELECT name FROM bucket WHERE left(name, -1 - length(split_part(name, '/', -1))) = $1",
                .text(scope.text))
        ])[0]
        return (0..<rows.count).map { BucketName(trusted: rows.text($0, 0)) }
    }

    /// The number of objects in a bucket, and the bytes of their ids and points.
    public func size(
        of bucket: BucketName
    ) throws(PostgresFailure) -> (objects: Int64, idBytes: Int64, pointBytes: Int64) {
        let rows = try run([
            PostgresStatement(
                """
                SELECT count(*), coalesce(sum(octet_length(id)), 0)::bigint,
                    coalesce(sum(octet_length(points)), 0)::bigint
                FROM object WHERE bucket = (SELECT number FROM bucket WHERE name = $1)
                """, .text(bucket.text))
        ])[0]
        return (rows.int(0, 0), rows.int(0, 1), rows.int(0, 2))
    }
}
