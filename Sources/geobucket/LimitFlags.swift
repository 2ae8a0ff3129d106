import ArgumentParser
import Objects

/// The flags of `serve` that set limits.
struct LimitFlags: ParsableArguments {
    @Option(help: "Bytes of one request line. (default: 1048576)")
    var lineBytes: Int?
    @Option(help: "Bytes of one answer to a query. (default: 1000000)")
    var replyBytes: Int?
    @Option(help: "Bytes of one object's minified JSON. (default: 65534)")
    var objectBytes: Int?
    @Option(help: "Objects of one page. (default: 200)")
    var pageObjects: Int?
    @Option(help: "Requests of one batch. (default: 1000)")
    var batchRequests: Int?
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
    @Option(help: "Milliseconds one query may take. (default: 10000)")
    var queryMilliseconds: Int?
    @Option(help: "Milliseconds an export is kept for its next call. (default: 60000)")
    var exportIdleMilliseconds: Int?
    @Option(help: "Connections at once. (default: 10000)")
    var connections: Int?
    @Option(help: "Unanswered requests of one connection. (default: 1024)")
    var pipelinedRequests: Int?
    @Option(help: "Bytes of unanswered requests of one connection. (default: 4194304)")
    var pipelinedBytes: Int?
    @Option(help: "Unsent answer bytes of one connection. (default: 4194304)")
    var outputBytes: Int?
    @Option(help: "Bytes of documents kept in memory. (default: 268435456)")
    var documentCacheBytes: Int?
    @Option(help: "Bytes of columns of fields kept in memory. (default: 1073741824)")
    var memory: Int?

    func limits(_ settings: Settings) throws -> Limits {
        let flags: [Int?] = [
            lineBytes, replyBytes, objectBytes, pageObjects, batchRequests, clauseDepth, clauses,
            inValues, polygonPositions, orderKeys, dataTypeBytes, queryMilliseconds,
            exportIdleMilliseconds,
            connections, pipelinedRequests, pipelinedBytes,
            outputBytes, documentCacheBytes, memory,
        ]
        var limits = Limits()
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
