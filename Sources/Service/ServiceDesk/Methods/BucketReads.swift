import BackendContract
import JSONText
import Objects
import QueryLanguage

/// Reads one object.
final class GetObject: Read {
    private let bucket: BucketName
    private let id: ObjectID

    var target: BucketName? { bucket }

    init(_ id: ObjectID, in bucket: BucketName) { (self.id, self.bucket) = (id, bucket) }

    convenience init(_ params: inout Params) throws(ServiceFailure) {
        let bucket = try params.bucket()
        self.init(try params.id(), in: bucket)
    }

    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure) {
        try context.backend.get(id, in: bucket, into: &writer)
    }
}

/// Counts the objects that match a clause.
final class CountObjects: Read {
    private let bucket: BucketName
    private let clause: Clause
    private let wantsHints: Bool

    var target: BucketName? { bucket }

    init(_ clause: Clause, in bucket: BucketName, hints: Bool = false) {
        (self.clause, self.bucket, wantsHints) = (clause, bucket, hints)
    }

    convenience init(_ params: inout Params) throws(ServiceFailure) {
        let bucket = try params.bucket()
        self.init(try params.clause(), in: bucket, hints: try params.bool("hints"))
    }

    func prepare(for caller: Caller, on service: QueryService) throws(ServiceFailure) -> Preparation
    {
        let read = try service.backend.prepare(
            .count(clause, in: bucket, by: caller.grant?.principal))
        guard wantsHints else { return .planned(read) }
        return .planned(
            try HintedRead(read, of: Query(clause: clause), in: bucket, for: caller, on: service))
    }

    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure) {
        let start = writer.count
        writer.raw("{\"count\":")
        let end = try context.find(into: &writer)
        writer.integer(end.count)
        context.writeHints(after: end, from: start, to: &writer)
        writer.byte(UInt8(ascii: "}"))
    }
}

/// Counts what `bucket.deleteWhere` would delete.
final class CountDeletions: Read {
    private let bucket: BucketName
    private let clause: Clause

    var target: BucketName? { bucket }

    private init(_ write: Write) {
        guard case .deleteWhere(let bucket, let clause) = write else {
            preconditionFailure("another write searches for nothing")
        }
        (self.bucket, self.clause) = (bucket, clause)
    }

    /// The count, if the params want a dry run.
    static func ifWanted(_ params: inout Params) throws(ServiceFailure) -> (any Read)? {
        guard try params.bool("dryRun") else { return nil }
        return CountDeletions(try Write.deleteWhere(&params))
    }

    func prepare(for caller: Caller, on service: QueryService) throws(ServiceFailure) -> Preparation
    {
        .planned(
            try service.backend.prepare(.count(clause, in: bucket, by: caller.grant?.principal)))
    }

    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure) {
        writer.raw("{\"deleted\":0,\"matches\":")
        writer.integer(try context.find(into: &writer).count)
        writer.byte(UInt8(ascii: "}"))
    }
}

/// Finds a page of the objects that match a clause, or aggregates all of them.
final class QueryObjects: Read {
    private let bucket: BucketName
    private let query: Query
    private let wantsHints: Bool

    var target: BucketName? { bucket }

    init(_ query: Query, in bucket: BucketName, hints: Bool = false) {
        (self.query, self.bucket) = (query, bucket)
        // A page behind another is empty because that was the last one.
        wantsHints = hints && query.paginationKey == nil
    }

    convenience init(_ params: inout Params) throws(ServiceFailure) {
        let bucket = try params.bucket()
        self.init(try params.query(), in: bucket, hints: try params.bool("hints"))
    }

    func prepare(for caller: Caller, on service: QueryService) throws(ServiceFailure) -> Preparation
    {
        let principal = caller.grant?.principal
        let read = try service.backend.prepare(
            query.aggregations.isEmpty
                ? .page(query, in: bucket, by: principal)
                : .aggregation(query, in: bucket, by: principal))
        guard wantsHints else { return .planned(read) }
        return .planned(try HintedRead(read, of: query, in: bucket, for: caller, on: service))
    }

    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure) {
        let start = writer.count
        writer.raw("{\"queryDescription\":")
        query.writeDescription(to: &writer)
        writer.key("results")
        if query.aggregations.isEmpty { return try context.writePage(from: start, to: &writer) }
        writer.raw("[],\"aggregations\":")
        let around = context.envelopeBytes + writer.count - start + 1
        let end = try context.find(
            maximumBytes: context.service.limits.replyBytes - around, into: &writer)
        context.writeHints(after: end, from: start, to: &writer)
        writer.byte(UInt8(ascii: "}"))
    }
}

/// Explains a query's plan.
final class ExplainQuery: Read {
    private let bucket: BucketName
    private let query: Query
    private let analyze: Bool

    var target: BucketName? { bucket }

    init(_ params: inout Params) throws(ServiceFailure) {
        bucket = try params.bucket()
        query = try params.query()
        analyze = try params.bool("analyze")
    }

    func prepare(for caller: Caller, on service: QueryService) throws(ServiceFailure) -> Preparation
    {
        .planned(
            try service.backend.prepare(.explanation(query, in: bucket, analyze: analyze)))
    }

    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure) {
        try context.find(into: &writer)
    }
}

/// Reads the next piece of a bucket's export.
final class ExportBucket: Read {
    private let bucket: BucketName
    private let continues: Bool

    var target: BucketName? { bucket }

    init(_ params: inout Params) throws(ServiceFailure) {
        bucket = try params.bucket()
        continues = try params.bool("continue")
    }

    func prepare(for caller: Caller, on service: QueryService) -> Preparation { .costly }

    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure) {
        let session = context.caller.export
        if !continues {
            session.end()
            session.begin(
                .export(bucket, try context.backend.export(bucket)), by: context.service.clock)
        }
        guard case .export(bucket, let export) = session.current() else {
            throw ServiceFailure(
                .invalidInputData, "no export of this bucket is under way on this connection",
                at: "continue")
        }
        writer.raw("{\"objects\":[")
        let around = context.envelopeBytes + #"{"objects":[],"more":false}"#.utf8.count
        let room = context.service.limits.replyBytes - around
        let more = try export.next(maximumBytes: room, into: &writer)
        if !more { session.end() }
        writer.raw("],\"more\":")
        writer.bool(more)
        writer.byte(UInt8(ascii: "}"))
    }
}
