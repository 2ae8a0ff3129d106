import PlainJSON

/// Every limit of the service, by name. A limit is the largest value that is still accepted.
public struct Limits: Sendable, Equatable {
    /// Bytes of one request line, its line break not counted.
    public var lineBytes = 1_048_576
    /// Bytes of one answer line to a query; a page ends early rather than exceed it.
    public var replyBytes = 1_000_000
    /// Characters of one object's minified JSON, its escapes resolved, the predefined fields not
    /// counted: Kii's limit.
    public var objectCharacters = 65_534
    /// Bytes of one object's minified JSON as spelled, the predefined fields not counted.
    public var objectBytes = 4 * 65_534
    /// Levels of one object: nested arrays and objects, itself included. With the four levels that
    /// an answer adds this makes 64, which the strictest common JSON readers accept.
    public var objectDepth = 60
    /// Objects of one page.
    public var pageObjects = 200
    /// Requests of one JSON-RPC batch.
    public var batchRequests = 1_000
    /// Objects of one `object.putMany`.
    public var putManyObjects = 10_000
    /// Levels of a clause tree; a leaf alone is 1.
    public var clauseDepth = 32
    /// Nodes of a clause tree.
    public var clauses = 1_000
    /// Values of one `in` clause.
    public var inValues = 200
    /// Positions of all polygons of one query.
    public var polygonPositions = 10_000
    /// Positions of all lines of one query.
    public var linePositions = 10_000
    /// Keys of one order.
    public var orderKeys = 16
    /// Aggregations of one query.
    public var aggregations = 16
    /// Values that one GROUP may ask for.
    public var groupValues = 1_000
    /// Bytes of the distinct values of the fields that one query groups by.
    public var groupBytes = 128 * 1_048_576
    /// Cells of one `bucket.clusters`.
    public var clusterCells = 4_096
    /// Bytes of one `_dataType`.
    public var dataTypeBytes = 200
    /// Field paths at which one bucket holds GeoPoints.
    public var geoFields = 100
    /// Buckets that one principal has created.
    public var bucketsPerPrincipal = 10_000
    /// GeoPoints in one array of an object.
    public var arrayPoints = 100
    /// Bytes of one `requestKey`.
    public var requestKeyBytes = 100
    /// Writes of the last 24 hours that are remembered by their `requestKey`.
    public var requestKeys = 10_000_000
    /// Milliseconds that one query may take.
    public var queryMilliseconds = 10_000
    /// Milliseconds that one query may wait, before it begins, for columns that are being built.
    public var columnWaitMilliseconds = 60_000
    /// Milliseconds that an export waits for its next call.
    public var exportIdleMilliseconds = 60_000
    /// Concurrent exports of all connections.
    public var exports = 16
    /// Bytes of the write-ahead log that are kept for one export; one that needs more is ended.
    public var exportLogBytes = 4_096 * 1_048_576
    /// Milliseconds above which a read is logged with its plan; 0 logs none.
    public var slowQueryMilliseconds = 1_000
    /// Concurrent connections.
    public var connections = 10_000
    /// Concurrent connections from one address; for IPv6, from one /64 network. 0 means four fifths
    /// of `connections`.
    public var connectionsPerAddress = 0
    /// Milliseconds from a connection's beginning to the end of its TLS handshake and, where logins
    /// are required, of its first login.
    public var handshakeMilliseconds = 60_000
    /// Milliseconds from a line's first byte to its end.
    public var lineMilliseconds = 60_000
    /// Milliseconds that a connection may be idle.
    public var idleMilliseconds = 3_600_000
    /// Milliseconds that a client may leave all its answers unread.
    public var unreadMilliseconds = 60_000
    /// Requests a second of one principal, or without a login of one address; 0 means no limit.
    public var requestsPerSecond = 0
    /// Failed logins of one address, or with one token there, before the next has to wait…
    public var failedLogins = 10
    /// …this many milliseconds for each.
    public var failedLoginMilliseconds = 3_000
    /// Bytes of a token at a login.
    public var tokenBytes = 16_384
    /// Bytes of a file that configures the service: the tokens, the key set, a certificate or key.
    public var fileBytes = 64 * 1_048_576
    /// Bytes of the audit log above which it goes on in another file.
    public var auditBytes = 100 * 1_048_576
    /// Older files of the audit log that are kept.
    public var auditFiles = 10
    /// Concurrent connections for health and metrics; above it an idle one is closed for a new one.
    public var httpConnections = 256
    /// Milliseconds from the beginning of such a connection to the end of its first request's head.
    public var httpRequestMilliseconds = 10_000
    /// Milliseconds that such a connection may take for any other step: until its next request, or
    /// until it has read an answer.
    public var httpIdleMilliseconds = 60_000
    /// Concurrent connections of the web port; above it an idle one is closed for a new one.
    public var webConnections = 1_000
    /// Concurrent connections of the web port from one address; 0 means four fifths of
    /// `webConnections`.
    public var webConnectionsPerAddress = 0
    /// Concurrent event streams of one principal, or without a login of one address; 0 means a
    /// quarter of `webConnections`.
    public var streamsPerPrincipal = 0
    /// Sessions of browsers; above it the one that would end first gives way to a new one.
    public var sessions = 10_000
    /// Sessions of one principal, likewise.
    public var sessionsPerPrincipal = 100
    /// Bytes of a request's head at the web port.
    public var webHeadBytes = 65_536
    /// Writes that wait for the store, of all connections together.
    public var queuedWrites = 200_000
    /// Milliseconds after which a transaction takes no more of the writes that wait.
    public var commitMilliseconds = 5
    /// Milliseconds for which a node that reads locally may be behind PostgreSQL.
    public var followMilliseconds = 1_000
    /// Milliseconds for which requests wait for PostgreSQL when it does not answer.
    public var failoverMilliseconds = 10_000
    /// Milliseconds after which a node of a cluster that is not heard of is taken for dead.
    public var nodeTimeoutMilliseconds = 5_000
    /// Bytes of memory of the buckets that a node of a cluster holds, above which it loads no more;
    /// 0 means no limit.
    public var heldBytes = 0
    /// Threads that serve connections and run cheap reads; `geobucket serve` uses as many as there
    /// are processors.
    public var connectionThreads = 2
    /// Costly reads that run at once; those of one client delay others only as far as they share
    /// processors.
    public var readThreads = 4
    /// Milliseconds that a costly read may wait for a thread.
    public var queueMilliseconds = 5_000
    /// Unanswered requests of one connection; no more is read from it until some are answered.
    public var pipelinedRequests = 1_024
    /// Bytes of unanswered request lines of one connection, above which no more is read from it.
    public var pipelinedBytes = 4 * 1_048_576
    /// Bytes of unsent answers of one connection, above which no more of its requests run.
    public var outputBytes = 4 * 1_048_576
    /// Bytes of unfinished lines, unanswered requests and unsent answers of all connections
    /// together; above it the connection with the most is closed.
    public var bufferedBytes = 1_024 * 1_048_576
    /// Bytes of documents in pending writes of all connections, above which no more writes are
    /// begun.
    public var queuedWriteBytes = 64 * 1_048_576
    /// Bytes of the write-ahead log above which it restarts at its beginning as soon as no read
    /// needs it.
    public var logBytes = 256 * 1_048_576
    /// Bytes of documents kept in memory.
    public var documentCacheBytes = 256 * 1_048_576
    /// Columns of one bucket; those of fields that no object has may be a quarter of them.
    public var bucketColumns = 64
    /// Columns that the queries of one principal may start in a minute.
    public var columnsPerMinute = 64
    /// Bytes of columns, and of their orders, kept in memory.
    public var memoryBytes = 1_024 * 1_048_576
    /// Bytes of documents that are kept, although they were replaced or deleted, for the reads that had
    /// begun before; above it the oldest of these reads end.
    public var supersededBytes = 256 * 1_048_576

    /// Watches of all connections together.
    public var watches = 100_000
    /// Watches of one connection.
    public var watchesPerConnection = 1_000
    /// Objects in a watch that has no limit of its own.
    public var watchObjects = 10_000
    /// Bytes of unsent notifications of one connection; above it a watch begins again with a
    /// snapshot.
    public var watchBytes = 4 * 1_048_576
    /// Couples of one watch of pairs.
    public var watchPairs = 100_000
    /// Queries of one bucket that are watched and that have to be tried for each of its writes.
    public var unindexedWatches = 200
    /// Objects that have changed and have not been matched with watches yet; above it all watches
    /// begin again with snapshots. Each takes some 50 bytes.
    public var watchBacklog = 262_144
    /// Milliseconds after which a watch that had nothing to tell says so.
    public var watchHeartbeatMilliseconds = 30_000

    /// The quotas of scopes, which may change at any time.
    public var quotas = Quotas()

    /// `objectCharacters` and `objectBytes`.
    public var documentSize: DocumentSize {
        get { DocumentSize(characters: objectCharacters, bytes: objectBytes) }
        set { (objectCharacters, objectBytes) = (newValue.characters, newValue.bytes) }
    }

    /// The connections that one address may have at the line port.
    public var connectionsOfAddress: Int { share(connectionsPerAddress, ofAll: connections) }

    /// The connections that one address may have at the web port.
    public var webConnectionsOfAddress: Int {
        share(webConnectionsPerAddress, ofAll: webConnections)
    }

    /// The event streams that one principal may have.
    public var streamsOfOne: Int {
        streamsPerPrincipal > 0 ? streamsPerPrincipal : max(1, webConnections / 4)
    }

    private func share(_ limit: Int, ofAll all: Int) -> Int { limit > 0 ? limit : all - all / 5 }

    /// The limits of a service that is not configured otherwise.
    public init() {}
}
