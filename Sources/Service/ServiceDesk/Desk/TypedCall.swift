import BackendContract
import JSONText
import LiveQueries
import Objects
import QueryLanguage

/// A call whose reply is a value, for doors that answer in another form than the line protocol's.
///
///     let count = try await operations.ask(.count(clause, in: shops), from: caller)
///
/// The node that holds the bucket carries it out; only what another node replies is read from JSON.
public struct TypedCall<Reply: Sendable>: Sendable {
    let method: MethodName
    let operation: Operation
    let bucket: BucketName?
    private(set) var call: Call
    /// Whether planning takes too long for a thread that others wait for.
    let isLarge: Bool
    /// Appends the params in the form of the line protocol, from the bucket on.
    private let params: @Sendable (inout JSONWriter) -> Void
    /// The reply of this node.
    private let local: Local
    /// The reply that a result of the line protocol has; nil if it has none.
    private let remote: @Sendable (JSONView) -> Reply?

    private enum Local: Sendable {
        case read(@Sendable (ReadContext) throws(ServiceFailure) -> Reply)
        case write(@Sendable (WriteAnswer) -> Reply)
    }

    private init(
        _ method: MethodName, _ read: any Read, _ operation: Operation, isLarge: Bool = false,
        _ params: @escaping @Sendable (inout JSONWriter) -> Void,
        local: @escaping @Sendable (ReadContext) throws(ServiceFailure) -> Reply,
        remote: @escaping @Sendable (JSONView) -> Reply?
    ) {
        (self.method, self.operation, self.isLarge) = (method, operation, isLarge)
        (bucket, call) = (read.target, .read(read, atLeast: nil))
        (self.params, self.local, self.remote) = (params, .read(local), remote)
    }

    /// A call whose reply is read from the JSON that the read writes, wherever it runs.
    init(
        _ method: MethodName, _ read: any Read, _ operation: Operation,
        _ params: @escaping @Sendable (inout JSONWriter) -> Void,
        remote: @escaping @Sendable (JSONView) -> Reply?
    ) {
        self.init(
            method, read, operation, params,
            local: { context throws(ServiceFailure) in
                var writer = JSONWriter()
                try read.run(context, into: &writer)
                guard let reply = try? JSONParser.reading(writer.bytes, remote) else {
                    throw ServiceFailure(.undefined, "\(method.text) wrote what cannot be read")
                }
                return reply
            }, remote: remote)
    }

    private init(
        _ method: MethodName, _ write: Write,
        local: @escaping @Sendable (WriteAnswer) -> Reply,
        remote: @escaping @Sendable (JSONView) -> Reply?
    ) {
        (self.method, isLarge) = (method, false)
        operation = .write(write.bucket, WriteKind(leastOf: method))
        (bucket, call) = (write.bucket, .write(write, key: nil))
        (params, self.local, self.remote) = ({ write.writeParams(to: &$0) }, .write(local), remote)
    }

    /// The same call, which sees a change.
    public func atLeast(_ change: ChangeNumber) -> Self {
        guard case .read(let read, _) = call else { return self }
        var call = self
        call.call = .read(read, atLeast: change)
        return call
    }

    /// The params in the form of the line protocol.
    public var paramsText: [UInt8] {
        var writer = JSONWriter()
        if let bucket {
            writer.key("bucket")
            writer.string(bucket.text)
        }
        params(&writer)
        if case .read(_, let change?) = call {
            writer.key("atLeast")
            writer.integer(change)
        }
        // Each member has a comma before it.
        return [UInt8(ascii: "{")] + writer.bytes.dropFirst() + [UInt8(ascii: "}")]
    }

    /// The method that it calls.
    public var name: MethodName { method }

    /// The reply in a result of the line protocol.
    ///
    /// - Throws: `UNDEFINED_ERROR` for another result.
    public func reply(in result: JSONView) throws(RPCFailure) -> Reply {
        guard let reply = remote(result) else { throw .unreadableAnswer }
        return reply
    }
}

extension TypedCall: AnswerMaker {
    func answer(
        to read: ReadyRead, from caller: Caller, until stop: StopSignal?, at desk: Desk
    ) -> Result<Reply, RPCFailure> {
        desk.reply(to: read, from: caller, until: stop) { context throws(ServiceFailure) in
            guard case .read(let reply) = local else {
                preconditionFailure("a write is queued, not run")
            }
            return try reply(context)
        }
    }

    func answer(to write: FinishedWrite, at desk: Desk) -> Result<Reply, RPCFailure> {
        guard case .write(let reply) = local else { preconditionFailure("a read is not queued") }
        return desk.result(of: write).map(reply)
    }

    func answer(in text: [UInt8]) -> Result<Reply, RPCFailure> {
        do throws(RPCFailure) {
            let parser = JSONParser()
            defer { withExtendedLifetime(parser) {} }
            guard let view = try? parser.parse(text) else { throw .unreadableAnswer }
            if let error = view["error"] { throw RPCFailure(error) ?? .unreadableAnswer }
            guard let result = view["result"] else { throw .unreadableAnswer }
            return .success(try reply(in: result))
        } catch {
            return .failure(error)
        }
    }
}

extension RPCFailure {
    fileprivate static let unreadableAnswer = RPCFailure(
        -32603, ServiceFailure.Reason.undefined.rawValue, "another node's answer cannot be read")
}

// MARK: Reads

extension TypedCall where Reply == Int {
    /// The number of objects that satisfy a clause.
    public static func count(_ clause: Clause, in bucket: BucketName) -> Self {
        Self(
            .count, CountObjects(clause, in: bucket), .read(bucket), isLarge: clause.isLarge,
            { Query(clause: clause).writeParams(to: &$0) },
            local: { context throws(ServiceFailure) in
                var nothing = JSONWriter()
                return try context.find(into: &nothing).count
            }, remote: { $0["count"]?.number?.exactInt })
    }
}

/// A page of objects.
public struct ObjectPage: Sendable {
    /// A JSON array with the objects, as clients read them.
    public let objects: [UInt8]
    /// A JSON object with the results of aggregations by name; nil for a query that has none.
    public let aggregations: [UInt8]?
    /// The key of the next page; nil if nothing follows.
    public let nextPaginationKey: String?
}

extension TypedCall where Reply == ObjectPage {
    /// A page of the objects that match, or the aggregations of all of them.
    public static func find(_ query: Query, in bucket: BucketName) -> Self {
        Self(
            .query, QueryObjects(query, in: bucket), .read(bucket), isLarge: query.clause.isLarge,
            { query.writeParams(to: &$0) },
            local: { context throws(ServiceFailure) in
                try context.found(isAggregation: !query.aggregations.isEmpty)
            },
            remote: { view in
                guard let results = view["results"] else { return nil }
                return ObjectPage(
                    objects: Array(results.text),
                    aggregations: view["aggregations"].map { Array($0.text) },
                    nextPaginationKey: view["nextPaginationKey"]?.string)
            })
    }
}

extension TypedCall where Reply == ClusterAnswer {
    /// The objects that match, by the cells of the world's grid.
    public static func clusters(_ query: ClusterQuery, in bucket: BucketName) -> Self {
        Self(
            .clusters, ClusterObjects(query, in: bucket), .read(bucket),
            isLarge: query.clause.isLarge,
            { query.writeParams(to: &$0) },
            local: { context throws(ServiceFailure) in try context.clusters() },
            remote: { ClusterAnswer($0) })
    }
}

extension TypedCall where Reply == [UInt8] {
    /// The whole object of an id, as clients read it.
    public static func get(_ id: ObjectID, in bucket: BucketName) -> Self {
        Self(
            .get, GetObject(id, in: bucket), .read(bucket),
            { writer in
                writer.key("id")
                writer.string(id.text)
            },
            local: { context throws(ServiceFailure) in
                var writer = JSONWriter()
                try context.backend.get(id, in: bucket, into: &writer)
                return writer.bytes
            }, remote: { Array($0.text) })
    }
}

extension TypedCall where Reply == Void {
    /// Begins a watch of the caller's, on this node.
    public static func startWatch(_ request: WatchRequest) -> Self {
        let read = StartWatch(request)
        return Self(
            .startWatch, read, .read(request.bucket), isLarge: request.query.clause.isLarge,
            { _ in preconditionFailure("a watch is not forwarded") },
            local: { context throws(ServiceFailure) in
                var nothing = JSONWriter()
                try read.run(context, into: &nothing)
            }, remote: { _ in () })
    }
}

// MARK: Writes

extension TypedCall where Reply == WrittenObject? {
    /// Creates, replaces or merges into one object, or deletes it: then there is none.
    public static func write(_ write: Write) -> Self {
        Self(
            write.method, write,
            local: { answer in
                guard case .stored(let stored) = answer else { return nil }
                return stored.first.map { object in
                    WrittenObject(
                        metadata: object.metadata,
                        object: object.document.map { object.metadata.document(around: $0) })
                }
            },
            remote: { view in
                // Of what was deleted there is nothing to read.
                .some(
                    ObjectMetadata(view["object"] ?? view).map { metadata in
                        WrittenObject(
                            metadata: metadata, object: view["object"].map { Array($0.text) })
                    })
            })
    }
}

/// An object after a write.
public struct WrittenObject: Sendable {
    /// Its metadata.
    public let metadata: ObjectMetadata
    /// The whole object as clients read it; nil unless the write asked for it.
    public let object: [UInt8]?
}
