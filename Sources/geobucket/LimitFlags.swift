import ArgumentParser
import NIOCore
import Objects

/// The flags of `serve` that set limits.
struct LimitFlags: ParsableArguments {
    @Option(help: "Bytes of one request line. (default: 1048576)")
    var lineBytes: Int?
    @Option(help: "Bytes of one answer to a query. (default: 1000000)")
    var replyBytes: Int?
    @Option(help: "Bytes of one object's minified JSON. (default: 65534)")
    var objectBytes: Int?
    @Option(help: "Levels of one object, arrays and objects inside each other. (default: 60)")
    var objectDepth: Int?
    @Option(help: "Objects of one page. (default: 200)")
    var pageObjects: Int?
    @Option(help: "Requests of one batch. (default: 1000)")
    var batchRequests: Int?
    @Option(help: "Objects of one object.putMany. (default: 10000)")
    var putManyObjects: Int?
    @Option(help: "Levels of a clause tree. (default: 32)")
    var clauseDepth: Int?
    @Option(help: "Nodes of a clause tree. (default: 1000)")
    var clauses: Int?
    @Option(help: "Values of one \"in\" clause. (default: 200)")
    var inValues: Int?
    @Option(help: "Positions of all polygons of one query. (default: 10000)")
    var polygonPositions: Int?
    @Option(help: "Keys of one order. (default: 16)")
    var orderKeys: Int?
    @Option(help: "Bytes of one dataType. (default: 200)")
    var dataTypeBytes: Int?
    @Option(help: "Field paths at which one bucket holds GeoPoints. (default: 100)")
    var geoFields: Int?
    @Option(help: "Bytes of one requestKey. (default: 100)")
    var requestKeyBytes: Int?
    @Option(help: "Writes of 24 hours remembered by their requestKey. (default: 10000000)")
    var requestKeys: Int?
    @Option(help: "Milliseconds one query may take. (default: 10000)")
    var queryMilliseconds: Int?
    @Option(help: "Milliseconds an export is kept for its next call. (default: 60000)")
    var exportIdleMilliseconds: Int?
    @Option(help: "Exports under way at once. (default: 16)")
    var exports: Int?
    @Option(help: "Bytes of the write-ahead log kept for one export. (default: 4294967296)")
    var exportLogBytes: Int?
    @Option(help: "Milliseconds after which a read is logged as slow; 0: never. (default: 1000)")
    var slowQueryMilliseconds: Int?
    @Option(help: "Connections at once. (default: 10000)")
    var connections: Int?
    @Option(help: "Connections at once from one address. (default: 10000)")
    var connectionsPerAddress: Int?
    @Option(help: "Milliseconds for the TLS handshake and the first login. (default: 60000)")
    var handshakeMilliseconds: Int?
    @Option(help: "Milliseconds from a line's first byte to its end. (default: 60000)")
    var lineMilliseconds: Int?
    @Option(help: "Milliseconds a connection may ask for nothing. (default: 3600000)")
    var idleMilliseconds: Int?
    @Option(help: "Milliseconds a client may leave its answers unread. (default: 60000)")
    var unreadMilliseconds: Int?
    @Option(help: "Requests of one principal in a second; 0 is no bound. (default: 0)")
    var requestsPerSecond: Int?
    @Option(help: "Failed logins of one address, or one token there, before a wait. (default: 10)")
    var failedLogins: Int?
    @Option(help: "Milliseconds it has to wait for each. (default: 3000)")
    var failedLoginMilliseconds: Int?
    @Option(help: "Bytes of a token that somebody logs in with. (default: 16384)")
    var tokenBytes: Int?
    @Option(help: "Bytes of the tokens file, the key set, a certificate. (default: 67108864)")
    var fileBytes: Int?
    @Option(help: "HTTP connections at once. (default: 256)")
    var httpConnections: Int?
    @Option(help: "Milliseconds for the first request of an HTTP connection. (default: 10000)")
    var httpRequestMilliseconds: Int?
    @Option(help: "Milliseconds until its next one. (default: 60000)")
    var httpIdleMilliseconds: Int?
    @Option(help: "Writes that wait for the store. (default: 200000)")
    var queuedWrites: Int?
    @Option(help: "Threads that serve connections. (default: the processors, at most 16)")
    var connectionThreads: Int?
    @Option(help: "Costly reads that run at once. (default: 4)")
    var readThreads: Int?
    @Option(help: "Milliseconds a costly read may wait for a thread. (default: 5000)")
    var queueMilliseconds: Int?
    @Option(help: "Unanswered requests of one connection. (default: 1024)")
    var pipelinedRequests: Int?
    @Option(help: "Bytes of unanswered requests of one connection. (default: 4194304)")
    var pipelinedBytes: Int?
    @Option(help: "Unsent answer bytes of one connection. (default: 4194304)")
    var outputBytes: Int?
    @Option(help: "Bytes that all connections together keep waiting. (default: 1073741824)")
    var bufferedBytes: Int?
    @Option(help: "Bytes of documents in writes that wait. (default: 67108864)")
    var queuedWriteBytes: Int?
    @Option(help: "Bytes of the write-ahead log before it is begun anew. (default: 268435456)")
    var logBytes: Int?
    @Option(help: "Bytes of documents kept in memory. (default: 268435456)")
    var documentCacheBytes: Int?
    @Option(help: "Columns of fields of one bucket. (default: 64)")
    var bucketColumns: Int?
    @Option(help: "Columns that one principal's queries have made in a minute. (default: 64)")
    var columnsPerMinute: Int?
    @Option(help: "Bytes of columns of fields kept in memory. (default: 1073741824)")
    var memory: Int?

    func limits(_ settings: Settings) throws -> Limits {
        let flags: [Int?] = [
            lineBytes, replyBytes, objectBytes, objectDepth, pageObjects, batchRequests,
            putManyObjects,
            clauseDepth, clauses,
            inValues, polygonPositions, orderKeys, dataTypeBytes, geoFields, requestKeyBytes,
            requestKeys, queryMilliseconds, exportIdleMilliseconds, exports, exportLogBytes,
            slowQueryMilliseconds,
            connections,
            connectionsPerAddress, handshakeMilliseconds, lineMilliseconds, idleMilliseconds,
            unreadMilliseconds, requestsPerSecond, failedLogins, failedLoginMilliseconds,
            tokenBytes, fileBytes, httpConnections, httpRequestMilliseconds, httpIdleMilliseconds,
            queuedWrites, connectionThreads, readThreads, queueMilliseconds, pipelinedRequests,
            pipelinedBytes,
            outputBytes, bufferedBytes, queuedWriteBytes, logBytes, documentCacheBytes,
            bucketColumns, columnsPerMinute, memory,
        ]
        var limits = Limits()
        limits.connectionThreads = min(max(System.coreCount, 1), 16)
        for (setting, flag) in zip(LimitSetting.all, flags) {
            guard let value = try settings.int(setting.name, flag: flag) else { continue }
            guard setting.range.contains(value) else {
                throw ValidationError(
                    "\(setting.name) has to be \(setting.range.lowerBound) to "
                        + "\(setting.range.upperBound), not \(value)")
            }
            limits[keyPath: setting.path] = value
        }
        return limits
    }
}
