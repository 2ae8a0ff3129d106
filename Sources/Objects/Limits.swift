/// Every bound of the service, by name. A limit is the largest value that is still accepted.
public struct Limits: Sendable, Equatable {
    /// Bytes of one request line, its line break not counted.
    public var lineBytes = 1_048_576
    /// Bytes of one answer line to a query; a page ends early rather than pass it.
    public var replyBytes = 1_000_000
    /// Bytes of one object's minified JSON, the predefined fields not counted.
    public var objectBytes = 65_534
    /// Objects of one page.
    public var pageObjects = 200
    /// Requests of one JSON-RPC batch.
    public var batchRequests = 1_000
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
    /// Milliseconds one query may take.
    public var queryMilliseconds = 10_000
    /// Milliseconds an export is kept for its next call.
    public var exportIdleMilliseconds = 60_000
    /// Connections at once.
    public var connections = 10_000
    /// Unanswered requests of one connection; no more is read from it until some are answered.
    public var pipelinedRequests = 1_024
    /// Bytes of unanswered request lines of one connection, after which no more is taken from it.
    public var pipelinedBytes = 4 * 1_048_576
    /// Unsent answer bytes of one connection; no more of its requests are run until they are read.
    public var outputBytes = 4 * 1_048_576
    /// Bytes of documents kept in memory.
    public var documentCacheBytes = 256 * 1_048_576
    /// Bytes of columns, and of their orders, kept in memory.
    public var memoryBytes = 1_024 * 1_048_576

    public init() {}
}
