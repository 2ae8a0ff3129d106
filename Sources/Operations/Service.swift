import Backend
import JSONText
import Objects
import QueryLanguage

/// What requests do, whatever wire they came by: each operation writes its result as JSON.
///
/// Reads that are not light return false with nothing written when asked for `.light` effort; they
/// are then run again with `.any` on a thread that nobody waits for.
public final class Service: Sendable {
    public static let version = "0.1.0"
    public static let protocolVersion = 1

    public let limits: Limits
    public let counters: Counters
    private let backend: any Backend
    private let started = ContinuousClock.now

    public init(backend: any Backend, limits: Limits, methodNames: [String]) {
        self.backend = backend
        self.limits = limits
        counters = Counters(methodNames: methodNames)
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
        writer.list(limits.published) { limit, writer in
            writer.string(limit.name)
            writer.byte(UInt8(ascii: ":"))
            writer.integer(limit.value)
        }
        writer.raw("}}")
    }

    public func ping(into writer: inout JSONWriter) { writer.raw("\"pong\"") }

    public func statistics(into writer: inout JSONWriter) {
        let backend = backend.statistics()
        writer.raw("{\"uptimeSeconds\":")
        writer.integer((ContinuousClock.now - started).components.seconds)
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
        writer.byte(UInt8(ascii: "}"))
    }

    // MARK: Reads

    public func listBuckets(
        in scope: BucketScope, into writer: inout JSONWriter
    ) throws(ServiceFailure) {
        writer.raw("{\"buckets\":[")
        writer.list(try backend.buckets(in: scope)) { summary, writer in
            writer.raw("{\"bucket\":")
            writer.string(summary.bucket.text)
            writer.key("objects")
            writer.integer(summary.objects)
            writer.raw(",\"geoFields\":[")
            writer.list(summary.geoFields) { $1.string($0) }
            writer.raw("]}")
        }
        writer.raw("]}")
    }

    public func get(
        _ id: ObjectID, in bucket: BucketName, into writer: inout JSONWriter
    ) throws(ServiceFailure) {
        try backend.get(id, in: bucket, into: &writer)
    }

    public func count(
        _ clause: Clause, in bucket: BucketName, effort: Effort, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        guard let count = try backend.count(clause, in: bucket, effort: effort) else {
            return false
        }
        writer.raw("{\"count\":")
        writer.integer(count)
        writer.byte(UInt8(ascii: "}"))
        return true
    }

    /// - Parameter envelopeBytes: what the wire puts around the result; with it the answer stays
    ///   within the limit of a reply.
    public func query(
        _ query: Query, in bucket: BucketName, envelopeBytes: Int, effort: Effort,
        into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        let start = writer.count
        writer.raw("{\"queryDescription\":")
        query.writeDescription(to: &writer)
        if !query.counts.isEmpty {
            return try aggregate(query, in: bucket, effort: effort, into: &writer)
        }
        writer.raw(",\"results\":[")
        let around = envelopeBytes + writer.count - start + "]}".utf8.count
        let request = PageRequest(
            bucket: bucket, query: query, maximumBytes: limits.replyBytes - around)
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
        _ query: Query, in bucket: BucketName, effort: Effort, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        guard let count = try backend.count(query.clause, in: bucket, effort: effort) else {
            return false
        }
        writer.raw(",\"results\":[],\"aggregations\":{")
        writer.list(query.counts) { name, writer in
            writer.string(name)
            writer.byte(UInt8(ascii: ":"))
            writer.integer(count)
        }
        writer.raw("}}")
        return true
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
        if !continues { session.begin(bucket, backend.export(bucket)) }
        guard let export = session.current(of: bucket) else {
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

    // MARK: Writes

    /// Queues a write; the completion is called on a thread of the backend's choice.
    public func submit(
        _ write: Write,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) {
        backend.submit(write, completion: completion)
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

extension Limits {
    /// The limits that clients have to know, by their names on the wire.
    fileprivate var published: [(name: String, value: Int)] {
        [
            ("lineBytes", lineBytes), ("replyBytes", replyBytes), ("objectBytes", objectBytes),
            ("pageObjects", pageObjects), ("batchRequests", batchRequests),
            ("clauseDepth", clauseDepth), ("clauses", clauses), ("inValues", inValues),
            ("polygonPositions", polygonPositions),
            ("orderKeys", orderKeys), ("dataTypeBytes", dataTypeBytes),
            ("queryMilliseconds", queryMilliseconds), ("connections", connections),
            ("exportIdleMilliseconds", exportIdleMilliseconds),
            ("pipelinedRequests", pipelinedRequests), ("pipelinedBytes", pipelinedBytes),
            ("outputBytes", outputBytes),
        ]
    }
}
