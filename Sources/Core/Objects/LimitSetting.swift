/// How a limit is set and documented: by a flag, an environment variable and a name in the
/// configuration file of `geobucket serve`, in `server.info` and in the manual.
public struct LimitSetting: Sendable {
    /// `lineBytes` in the file and on the wire, `--line-bytes`, `GEOBUCKET_LINE_BYTES`.
    public let name: String
    /// Where `Limits` keeps its value.
    public let path: WritableKeyPath<Limits, Int> & Sendable
    /// The values that a setting may have.
    public let range: ClosedRange<Int>
    /// What it limits, as Markdown. It begins with the unit of sizes and times.
    public let bounds: String
    /// The default in words, if it is not a constant.
    public let defaultText: String?
    /// Whether clients need to know it, so that `server.info` has it.
    public let isPublished: Bool

    /// What a number measures.
    public enum Unit: String, Sendable { case bytes, milliseconds }

    /// The unit of its values; nil if they count something.
    public var unit: Unit? { Unit(rawValue: String(bounds.prefix { $0 != " " })) }

    private init(
        _ name: String, _ path: WritableKeyPath<Limits, Int> & Sendable,
        _ range: ClosedRange<Int>, _ bounds: String, defaultText: String? = nil,
        isPublished: Bool = true
    ) {
        self.name = name
        self.path = path
        self.range = range
        self.bounds = bounds
        self.defaultText = defaultText
        self.isPublished = isPublished
    }

    /// Every limit, in the order of the manual.
    public static let all: [LimitSetting] = [
        LimitSetting("lineBytes", \.lineBytes, 1_024...1 << 30, "bytes of one request line"),
        LimitSetting(
            "replyBytes", \.replyBytes, 1_024...1 << 30,
            "bytes of one answer to a query; a page ends early rather than pass it"),
        LimitSetting(
            "objectCharacters", \.objectCharacters, 2...1 << 28,
            "characters of one object's minified JSON, its escapes resolved"),
        LimitSetting(
            "objectBytes", \.objectBytes, 2...1 << 28,
            "bytes of one object's minified JSON as spelled"),
        // Not every JSON reader can read more: some stop at 512 levels, those of the answer
        // included.
        LimitSetting(
            "objectDepth", \.objectDepth, 1...500,
            "levels of one object: arrays and objects inside each other"),
        LimitSetting("pageObjects", \.pageObjects, 1...1_000_000, "objects of one page"),
        LimitSetting("batchRequests", \.batchRequests, 1...1_000_000, "requests of one batch"),
        LimitSetting(
            "putManyObjects", \.putManyObjects, 1...1_000_000, "objects of one `object.putMany`"),
        LimitSetting("clauseDepth", \.clauseDepth, 1...200, "levels of a clause tree"),
        LimitSetting("clauses", \.clauses, 1...1_000_000, "nodes of a clause tree"),
        LimitSetting("inValues", \.inValues, 1...1_000_000, "values of one `in` clause"),
        LimitSetting(
            "polygonPositions", \.polygonPositions, 4...1_000_000,
            "positions of all polygons of one query"),
        LimitSetting(
            "linePositions", \.linePositions, 2...1_000_000, "positions of all lines of one query"),
        LimitSetting("orderKeys", \.orderKeys, 1...1_000, "keys of one order"),
        LimitSetting("aggregations", \.aggregations, 1...1_000, "aggregations of one query"),
        LimitSetting(
            "groupValues", \.groupValues, 1...1_000_000, "values that one GROUP may ask for"),
        LimitSetting(
            "clusterCells", \.clusterCells, 1_024...100_000, "cells of one `bucket.clusters`"),
        LimitSetting(
            "groupBytes", \.groupBytes, 1_024...1 << 40,
            "bytes of the distinct values that one query's GROUPs tell apart, each counted with 64 more"
        ),
        LimitSetting("dataTypeBytes", \.dataTypeBytes, 1...10_000, "bytes of one `dataType`"),
        LimitSetting(
            "geoFields", \.geoFields, 1...10_000, "field paths at which one bucket holds GeoPoints"),
        LimitSetting(
            "bucketsPerPrincipal", \.bucketsPerPrincipal, 1...1 << 40,
            "buckets that one principal has created"),
        LimitSetting(
            "arrayPoints", \.arrayPoints, 1...1_000_000, "GeoPoints in one array of an object"),
        LimitSetting("requestKeyBytes", \.requestKeyBytes, 1...10_000, "bytes of one `requestKey`"),
        LimitSetting(
            "requestKeys", \.requestKeys, 0...1 << 40,
            "writes of the last 24 hours that are remembered by their key"),
        LimitSetting(
            "queryMilliseconds", \.queryMilliseconds, 1...86_400_000,
            "milliseconds that one query may take; over it `QUERY_TIMEOUT`"),
        LimitSetting(
            "columnWaitMilliseconds", \.columnWaitMilliseconds, 1...86_400_000,
            "milliseconds that one query may wait for columns that are being built, before it begins; over it `QUERY_TIMEOUT`"
        ),
        LimitSetting(
            "exportIdleMilliseconds", \.exportIdleMilliseconds, 1...86_400_000,
            "milliseconds that an export is kept for its next call"),
        LimitSetting("exports", \.exports, 1...1_000, "exports under way at once"),
        LimitSetting(
            "exportLogBytes", \.exportLogBytes, 4_096...1 << 46,
            "bytes of the write-ahead log that are kept for one export; over it the export is ended"
        ),
        LimitSetting(
            "slowQueryMilliseconds", \.slowQueryMilliseconds, 0...86_400_000,
            "milliseconds after which a query or count is logged with its plan; 0: none is",
            isPublished: false),
        LimitSetting("connections", \.connections, 1...1_000_000, "connections at once"),
        LimitSetting(
            "connectionsPerAddress", \.connectionsPerAddress, 0...1_000_000,
            "connections at once from one IPv4 address, or one IPv6 network of 64 bits; 0: four fifths of `connections`"
        ),
        LimitSetting(
            "handshakeMilliseconds", \.handshakeMilliseconds, 1...86_400_000,
            "milliseconds for the TLS handshake and the first login"),
        LimitSetting(
            "lineMilliseconds", \.lineMilliseconds, 1...86_400_000,
            "milliseconds from a line's first byte to its end"),
        LimitSetting(
            "idleMilliseconds", \.idleMilliseconds, 1...1 << 40,
            "milliseconds that a connection may ask for nothing and watch nothing"),
        LimitSetting(
            "unreadMilliseconds", \.unreadMilliseconds, 1...86_400_000,
            "milliseconds that a client may leave its answers unread"),
        LimitSetting(
            "requestsPerSecond", \.requestsPerSecond, 0...1_000_000_000,
            "requests of one principal or address in a second; 0: no bound"),
        LimitSetting(
            "failedLogins", \.failedLogins, 1...1_000_000,
            "failed logins of one address, or by one token there, before the next has to wait"),
        LimitSetting(
            "failedLoginMilliseconds", \.failedLoginMilliseconds, 1...86_400_000,
            "milliseconds that it has to wait for each"),
        LimitSetting(
            "tokenBytes", \.tokenBytes, 64...1 << 20, "bytes of a token that somebody logs in with"),
        LimitSetting(
            "fileBytes", \.fileBytes, 1_024...1 << 40,
            "bytes of the tokens file, of the key set, and of each file of TLS", isPublished: false),
        LimitSetting(
            "auditBytes", \.auditBytes, 4_096...1 << 40,
            "bytes of the audit log, which then goes on in another file", isPublished: false),
        LimitSetting(
            "auditFiles", \.auditFiles, 0...10_000, "older files of the audit log that are kept",
            isPublished: false),
        LimitSetting(
            "httpConnections", \.httpConnections, 1...100_000,
            "connections of health and metrics at once; over it one that waits is closed for a new one",
            isPublished: false),
        LimitSetting(
            "httpRequestMilliseconds", \.httpRequestMilliseconds, 1...86_400_000,
            "milliseconds for the head of such a connection's first request", isPublished: false),
        LimitSetting(
            "httpIdleMilliseconds", \.httpIdleMilliseconds, 1...86_400_000,
            "milliseconds until its next request, and until an answer has been read",
            isPublished: false),
        LimitSetting(
            "webConnections", \.webConnections, 1...100_000,
            "connections of the web port at once; over it one that waits is closed for a new one",
            isPublished: false),
        LimitSetting(
            "webConnectionsPerAddress", \.webConnectionsPerAddress, 0...100_000,
            "those from one address; 0: four fifths of `webConnections`", isPublished: false),
        LimitSetting(
            "streamsPerPrincipal", \.streamsPerPrincipal, 0...100_000,
            "event streams of one principal, or without a login of one address; 0: a quarter of `webConnections`",
            isPublished: false),
        LimitSetting(
            "sessions", \.sessions, 1...1_000_000,
            "sessions of browsers at once; over it the one that would end first ends",
            isPublished: false),
        LimitSetting(
            "sessionsPerPrincipal", \.sessionsPerPrincipal, 1...1_000_000,
            "those of one principal", isPublished: false),
        LimitSetting(
            "webHeadBytes", \.webHeadBytes, 1_024...1 << 20,
            "bytes of the head of a request to the web port, its query included",
            isPublished: false),
        LimitSetting(
            "queuedWrites", \.queuedWrites, 1...1_000_000_000, "writes that wait for the store"),
        LimitSetting(
            "commitMilliseconds", \.commitMilliseconds, 1...60_000,
            "milliseconds after which a transaction takes no more of the writes that wait",
            isPublished: false),
        LimitSetting(
            "followMilliseconds", \.followMilliseconds, 1...86_400_000,
            "milliseconds that a node with `--reads local` may be behind PostgreSQL",
            isPublished: false),
        LimitSetting(
            "failoverMilliseconds", \.failoverMilliseconds, 1...86_400_000,
            "milliseconds that requests wait for PostgreSQL when it does not answer",
            isPublished: false),
        LimitSetting(
            "nodeTimeoutMilliseconds", \.nodeTimeoutMilliseconds, 100...86_400_000,
            "milliseconds after which a node with `--copies` that has not been heard of counts as dead",
            isPublished: false),
        LimitSetting(
            "heldBytes", \.heldBytes, 0...1 << 46,
            "bytes of memory of the buckets that a node with `--copies` holds; one that would pass it is not loaded; 0: no bound",
            isPublished: false),
        LimitSetting(
            "connectionThreads", \.connectionThreads, 1...1_024,
            "threads that serve connections and run the reads that cost little",
            defaultText: "the processors, at most 16"),
        LimitSetting(
            "readThreads", \.readThreads, 1...1_024,
            "costly reads that run at once; of two or more, one principal or address never gets all"
        ),
        LimitSetting(
            "queueMilliseconds", \.queueMilliseconds, 1...86_400_000,
            "milliseconds that a costly read may wait for a thread"),
        LimitSetting(
            "pipelinedRequests", \.pipelinedRequests, 1...1_000_000,
            "unanswered requests of one connection; at this number the service stops reading from it"
        ),
        LimitSetting(
            "pipelinedBytes", \.pipelinedBytes, 1_024...1 << 40,
            "bytes of unanswered requests of one connection; at this number the service stops reading from it"
        ),
        LimitSetting(
            "outputBytes", \.outputBytes, 4_096...1 << 30,
            "bytes of unsent answers of one connection; at it no more of its requests run"),
        LimitSetting(
            "bufferedBytes", \.bufferedBytes, 1 << 20...1 << 46,
            "bytes of unfinished lines, unanswered requests, unsent answers and notifications of all connections; over it the one that holds most is closed"
        ),
        LimitSetting("watches", \.watches, 0...10_000_000, "watches of all connections at once"),
        LimitSetting(
            "watchesPerConnection", \.watchesPerConnection, 0...1_000_000,
            "watches of one connection at once"),
        LimitSetting(
            "watchObjects", \.watchObjects, 1...10_000_000,
            "objects in a watch without a limit; more are refused at the start and end the watch later"
        ),
        LimitSetting(
            "watchBytes", \.watchBytes, 4_096...1 << 30,
            "bytes of unsent notifications of one connection; beyond it, a watch begins again with a snapshot"
        ),
        LimitSetting(
            "watchPairs", \.watchPairs, 1...10_000_000, "pairs within reach of one watch"),
        LimitSetting(
            "unindexedWatches", \.unindexedWatches, 0...1_000_000,
            "watches of one bucket that have neither an area nor a value to find them by, so that every write is tried on them"
        ),
        LimitSetting(
            "watchBacklog", \.watchBacklog, 1...1 << 30,
            "objects that have changed and not been compared with watches yet; beyond it, all watches begin again with snapshots"
        ),
        LimitSetting(
            "watchHeartbeatMilliseconds", \.watchHeartbeatMilliseconds, 10...86_400_000,
            "milliseconds without an event after which a watch is sent an empty one"),
        LimitSetting(
            "queuedWriteBytes", \.queuedWriteBytes, 1_024...1 << 40,
            "bytes of documents in writes under way; at it no more are begun"),
        LimitSetting(
            "logBytes", \.logBytes, 4_096...1 << 40,
            "bytes of the write-ahead log before it is started over"),
        LimitSetting(
            "documentCacheBytes", \.documentCacheBytes, 0...1 << 46,
            "bytes of documents kept in memory", isPublished: false),
        LimitSetting(
            "bucketColumns", \.bucketColumns, 0...10_000,
            "columns of one bucket; those of fields that no object has may be a quarter of them",
            isPublished: false),
        LimitSetting(
            "columnsPerMinute", \.columnsPerMinute, 0...1_000_000,
            "columns that the queries of one principal have made in a minute", isPublished: false),
        LimitSetting(
            "memory", \.memoryBytes, 0...1 << 46,
            "bytes of columns and of their orders kept in memory", isPublished: false),
        LimitSetting(
            "supersededBytes", \.supersededBytes, 0...1 << 46,
            "bytes of replaced and deleted documents that are kept for the reads that began before; over it the oldest of them end with `QUERY_TIMEOUT`",
            isPublished: false),
    ]
}
