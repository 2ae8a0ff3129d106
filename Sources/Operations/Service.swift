import Backend
import JSONText
import Objects
import QueryLanguage
import Synchronization

/// What requests do, whatever wire they came by: each operation writes its result as JSON.
///
/// Reads that are not light return false with nothing written when asked for `.light` effort; they
/// are then run again with `.any` on a thread that nobody waits for.
public final class Service: Sendable {
    public static let version = "0.1.0"
    public static let protocolVersion = 1

    public let limits: Limits
    public let counters: Counters
    let backend: any Backend
    private let gate: Gate
    private let isChecking = Atomic(false)
    private let started = ContinuousClock.now
    private let gauges = ServiceGauges()
    /// Told to those who watch over the service.
    public let health: Health

    /// - Parameters:
    ///   - access: who may log in; nil lets everybody do everything.
    public init(
        backend: any Backend, limits: Limits, methodNames: [String], access: AccessControl? = nil,
        health: Health = Health(), clock: ServiceClock = ServiceClock()
    ) {
        self.health = health
        self.backend = backend
        self.limits = limits
        gate = Gate(access: access, limits: limits, clock: clock)
        counters = Counters(methodNames: methodNames)
    }

    // MARK: Who asks

    /// Whether callers have to log in.
    public var requiresLogin: Bool { gate.access != nil }

    /// Lets a request through or says why not; to be asked once for each request, in its turn.
    ///
    /// - Throws: `TOO_MANY_REQUESTS`, `UNAUTHORIZED`, `OPERATION_NOT_ALLOWED`.
    public func admit(_ operation: Operation, from caller: Caller) throws(ServiceFailure) {
        try gate.admit(operation, from: caller)
    }

    /// Logs a caller in; when that fails the caller stays what it was.
    ///
    /// - Throws: `WRONG_TOKEN`; `TOO_MANY_REQUESTS` where too many have failed.
    public func login(
        _ token: String, as caller: Caller, into writer: inout JSONWriter
    ) throws(ServiceFailure) {
        let grant = try gate.login(token, caller)
        writer.raw("{\"principal\":")
        writer.string(grant.principal)
        writer.key("role")
        writer.string(grant.role.rawValue)
        writer.byte(UInt8(ascii: "}"))
    }

    // MARK: The server

    public func info(into writer: inout JSONWriter) {
        writer.raw("{\"name\":\"geobucket\",\"version\":")
        writer.string(Self.version)
        writer.key("protocol")
        writer.integer(Self.protocolVersion)
        writer.key("store")
        writer.string(backend.storeName)
        writer.raw(",\"limits\":{")
        writer.list(LimitSetting.all.filter(\.isPublished)) { limit, writer in
            writer.string(limit.name)
            writer.byte(UInt8(ascii: ":"))
            writer.integer(limits[keyPath: limit.path])
        }
        writer.raw("}}")
    }

    public func ping(into writer: inout JSONWriter) { writer.raw("\"pong\"") }

    public func statistics(into writer: inout JSONWriter) {
        let backend = backend.statistics()
        writer.raw("{\"uptimeSeconds\":")
        writer.integer((ContinuousClock.now - started).components.seconds)
        writer.key("cpuSeconds")
        writer.millionths(processorMicroseconds())
        counters.write(to: &writer)
        writer.key("buckets")
        writer.integer(backend.buckets)
        writer.key("objects")
        writer.integer(backend.objects)
        writer.key("points")
        writer.integer(backend.points)
        writer.key("memory")
        writer.raw("{\"residentBytes\":")
        writer.integer(residentBytes())
        for part in backend.memory.parts {
            writer.key(part.name)
            writer.integer(part.bytes)
        }
        writer.raw("}")
        writer.key("storeBytes")
        writer.integer(backend.storeBytes)
        writer.key("change")
        writer.integer(backend.change)
        writer.key("commits")
        writer.integer(backend.commits)
        writer.byte(UInt8(ascii: "}"))
    }

    /// Sets the gauges of what can be told at any moment to what it is now.
    public func setGauges() {
        gauges.set(
            backend.statistics(), openConnections: counters.openConnections,
            uptimeSeconds: (ContinuousClock.now - started).components.seconds)
    }

    // MARK: Reads

    public func get(
        _ id: ObjectID, in bucket: BucketName, into writer: inout JSONWriter
    ) throws(ServiceFailure) {
        try backend.get(id, in: bucket, into: &writer)
    }

    public func count(
        _ clause: Clause, in bucket: BucketName, by caller: Caller, effort: Effort,
        into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        let principal = caller.grant?.principal
        guard let count = try backend.count(clause, in: bucket, by: principal, effort: effort)
        else { return false }
        writer.raw("{\"count\":")
        writer.integer(count)
        writer.byte(UInt8(ascii: "}"))
        return true
    }

    /// - Parameter envelopeBytes: what the wire puts around the result; with it the answer stays
    ///   within the limit of a reply.
    public func query(
        _ query: Query, in bucket: BucketName, by caller: Caller, envelopeBytes: Int,
        effort: Effort, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        let start = writer.count
        writer.raw("{\"queryDescription\":")
        query.writeDescription(to: &writer)
        if !query.counts.isEmpty {
            return try aggregate(query, in: bucket, by: caller, effort: effort, into: &writer)
        }
        writer.raw(",\"results\":[")
        let around = envelopeBytes + writer.count - start + "]}".utf8.count
        let request = PageRequest(
            bucket: bucket, query: query, maximumBytes: limits.replyBytes - around,
            principal: caller.grant?.principal)
        guard let end = try backend.query(request, effort: effort, into: &writer) else {
            return false
        }
        writer.byte(UInt8(ascii: "]"))
        if let key = end.nextPaginationKey {
            writer.key("nextPaginationKey")
            writer.string(key)
        }
        writer.byte(UInt8(ascii: "}"))
        return true
    }

    private func aggregate(
        _ query: Query, in bucket: BucketName, by caller: Caller, effort: Effort,
        into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        let principal = caller.grant?.principal
        guard let count = try backend.count(query.clause, in: bucket, by: principal, effort: effort)
        else { return false }
        writer.raw(",\"results\":[],\"aggregations\":{")
        writer.list(query.counts) { name, writer in
            writer.string(name)
            writer.byte(UInt8(ascii: ":"))
            writer.integer(count)
        }
        writer.raw("}}")
        return true
    }

    /// How a query runs, in one line without the values that it asks for.
    public func outline(of query: Query, in bucket: BucketName) -> String {
        backend.outline(of: PageRequest(bucket: bucket, query: query))
    }

    public func explain(
        _ query: Query, in bucket: BucketName, analyze: Bool, into writer: inout JSONWriter
    ) throws(ServiceFailure) {
        try backend.explain(
            PageRequest(bucket: bucket, query: query), analyze: analyze, into: &writer)
    }

    /// The next piece of a bucket's export; costly, so nothing is done with `.light` effort.
    ///
    /// - Parameter envelopeBytes: what the wire puts around the result.
    public func export(
        _ bucket: BucketName, continues: Bool, session: ExportSession, envelopeBytes: Int,
        effort: Effort, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        guard effort != .light else { return false }
        if !continues {
            session.end()
            session.begin(.export(bucket, try backend.export(bucket)))
        }
        guard case .export(bucket, let export) = session.current() else {
            throw ServiceFailure(
                .invalidInputData, "no export of this bucket is under way on this connection",
                at: "continue")
        }
        writer.raw("{\"objects\":[")
        let around = envelopeBytes + #"{"objects":[],"more":false}"#.utf8.count
        let more = try export.next(maximumBytes: limits.replyBytes - around, into: &writer)
        if !more { session.end() }
        writer.raw("],\"more\":")
        writer.bool(more)
        writer.byte(UInt8(ascii: "}"))
        return true
    }

    // MARK: The store

    /// Checks everything; costly, so nothing is done with `.light` effort.
    public func check(
        effort: Effort, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        guard effort != .light else { return false }
        guard !isChecking.exchange(true, ordering: .acquiring) else {
            throw ServiceFailure(.tooManyRequests, "a check of the store is under way")
        }
        defer { isChecking.store(false, ordering: .releasing) }
        let report = try backend.check(effort: effort)
        writer.raw("{\"objects\":")
        writer.integer(report.objects)
        writer.key("points")
        writer.integer(report.points)
        writer.key("buckets")
        writer.integer(report.buckets)
        writer.key("problemCount")
        writer.integer(report.problems.count)
        writer.raw(",\"problems\":[")
        writer.list(report.problems.prefix(Self.toldProblems)) { $1.string($0) }
        writer.raw("]}")
        return true
    }

    /// So many problems are told one by one.
    private static let toldProblems = 1_000

    /// The next piece of a copy of the store; costly, so nothing is done with `.light` effort.
    ///
    /// - Parameter envelopeBytes: what the wire puts around the result.
    public func backup(
        continues: Bool, session: ExportSession, envelopeBytes: Int, effort: Effort,
        into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        guard effort != .light else { return false }
        if !continues {
            session.end()
            session.begin(.backup(try backend.backup()))
        }
        guard case .backup(let backup) = session.current() else {
            throw ServiceFailure(
                .invalidInputData, "no backup is under way on this connection", at: "continue")
        }
        let around = envelopeBytes + #"{"data":"","more":false}"#.utf8.count
        let room = max(limits.replyBytes - around, 4) / 4 * 3
        let piece = try backup.next(maximumBytes: room)
        if piece == nil { session.end() }
        writer.raw("{\"data\":")
        writer.string(Base64URL.encode(piece ?? []))
        writer.key("more")
        writer.bool(piece != nil)
        writer.byte(UInt8(ascii: "}"))
        return true
    }

    // MARK: Writes

    /// Queues a write that has been let through; what it creates belongs to the caller's principal.
    /// The completion is called on a thread of the backend's choice.
    public func submit(
        _ write: Write, key: RequestKey?, by caller: Caller,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) {
        let principal = caller.grant?.principal
        gate.enqueue()
        backend.submit(
            write.owned(by: principal), key: key?.owned(by: principal),
            by: principal ?? caller.address
        ) { [gate] result in
            gate.dequeue()
            completion(result)
        }
    }

    /// Appends the result of a write.
    public static func write(
        _ answer: WriteAnswer, to write: Write, into writer: inout JSONWriter
    ) {
        switch (write, answer) {
        case (.putMany, .stored(let stored)):
            writer.raw("{\"objects\":[")
            writer.list(stored) { metadata, writer in
                writer.raw("{\"_id\":")
                writer.string(metadata.id.text)
                writer.key("_version")
                writer.integer(metadata.version)
                writer.byte(UInt8(ascii: "}"))
            }
            writer.raw("]}")
        case (_, .stored(let stored)):
            writer.byte(UInt8(ascii: "{"))
            for metadata in stored { metadata.write(to: &writer) }
            writer.byte(UInt8(ascii: "}"))
        case (.delete, .deleted): writer.raw("{}")
        case (_, .deleted(let count)):
            writer.raw("{\"deleted\":")
            writer.integer(count)
            writer.byte(UInt8(ascii: "}"))
        }
    }
}
