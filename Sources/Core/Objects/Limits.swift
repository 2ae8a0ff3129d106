/// Every bound of the service, by name. A limit is the largest value that is still accepted.
public struct Limits: Sendable, Equatable {
    /// Bytes of one request line, its line break not counted.
    public var lineBytes = 1_048_576
    /// Bytes of one answer line to a query; a page ends early rather than pass it.
    public var replyBytes = 1_000_000
    /// Bytes of one object's minified JSON, the predefined fields not counted.
    public var objectBytes = 65_534
    /// Levels of one object: arrays and objects inside each other, its own included. With the four that
    /// an answer adds, 64: what the strictest of common JSON readers take.
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
    /// Keys of one order.
    public var orderKeys = 16
    /// Bytes of one `_dataType`.
    public var dataTypeBytes = 200
    /// Field paths at which one bucket holds GeoPoints.
    public var geoFields = 100
    /// Bytes of one `requestKey`.
    public var requestKeyBytes = 100
    /// Writes of the last 24 hours that are remembered by their `requestKey`.
    public var requestKeys = 10_000_000
    /// Milliseconds one query may take.
    public var queryMilliseconds = 10_000
    /// Milliseconds an export is kept for its next call.
    public var exportIdleMilliseconds = 60_000
    /// Exports under way at once, of all connections.
    public var exports = 16
    /// Bytes of the write-ahead log that are kept for one export; one that needs more is ended.
    public var exportLogBytes = 4_096 * 1_048_576
    /// A read that takes longer is logged with its plan; 0: none is.
    public var slowQueryMilliseconds = 1_000
    /// Connections at once.
    public var connections = 10_000
    /// Connections at once from one address; of IPv6, from one network of 64 bits.
    public var connectionsPerAddress = 10_000
    /// Milliseconds from a connection's beginning to the end of its TLS handshake and, where logins
    /// are required, of its first login.
    public var handshakeMilliseconds = 60_000
    /// Milliseconds from a line's first byte to its end.
    public var lineMilliseconds = 60_000
    /// Milliseconds a connection may ask for nothing.
    public var idleMilliseconds = 3_600_000
    /// Milliseconds a client may leave all its answers unread.
    public var unreadMilliseconds = 60_000
    /// Requests of one principal in a second, without a login of one address; 0 is no bound.
    public var requestsPerSecond = 0
    /// Failed logins of one address, or by one token of it, at once, before the next has to wait…
    public var failedLogins = 10
    /// …so many milliseconds for each.
    public var failedLoginMilliseconds = 3_000
    /// Bytes of a token that somebody logs in with.
    public var tokenBytes = 16_384
    /// Bytes of a file that the service goes by: the tokens, the key set, a certificate or key.
    public var fileBytes = 64 * 1_048_576
    /// Connections of health and metrics at once; over it one that waits is closed for a new one.
    public var httpConnections = 256
    /// Milliseconds from the beginning of such a connection to the end of its first request's head.
    public var httpRequestMilliseconds = 10_000
    /// Milliseconds such a connection may take for any other step: until its next request, or until
    /// it has read an answer.
    public var httpIdleMilliseconds = 60_000
    /// Writes that wait for the store, of all connections together.
    public var queuedWrites = 200_000
    /// Milliseconds after which a transaction takes no more of the writes that wait.
    public var commitMilliseconds = 5
    /// Threads that serve connections, and run the reads that cost little; `geobucket serve` takes
    /// as many as there are processors.
    public var connectionThreads = 2
    /// Costly reads that run at once; those of one client delay others only as far as they share the
    /// machine's cores.
    public var readThreads = 4
    /// Milliseconds a costly read may wait for a thread.
    public var queueMilliseconds = 5_000
    /// Unanswered requests of one connection; no more is read from it until some are answered.
    public var pipelinedRequests = 1_024
    /// Bytes of unanswered request lines of one connection, after which no more is taken from it.
    public var pipelinedBytes = 4 * 1_048_576
    /// Unsent answer bytes of one connection; no more of its requests are run until they are read.
    public var outputBytes = 4 * 1_048_576
    /// Bytes of unfinished lines, unanswered requests and unsent answers of all connections
    /// together; over it the connection that holds the most is closed.
    public var bufferedBytes = 1_024 * 1_048_576
    /// Bytes of documents in writes of all connections that are not done yet; no more are begun until
    /// some are.
    public var queuedWriteBytes = 64 * 1_048_576
    /// Bytes of the write-ahead log from which on it is begun anew as soon as no read needs it.
    public var logBytes = 256 * 1_048_576
    /// Bytes of documents kept in memory.
    public var documentCacheBytes = 256 * 1_048_576
    /// Columns of one bucket; those of fields that no object has may be a quarter of them.
    public var bucketColumns = 64
    /// Columns that the queries of one principal may have made in a minute.
    public var columnsPerMinute = 64
    /// Bytes of columns, and of their orders, kept in memory.
    public var memoryBytes = 1_024 * 1_048_576

    public init() {}
}
