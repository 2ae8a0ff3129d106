import Backend
import JSONText
import Objects
import QueryLanguage

/// An object, whole.
struct GetObject: Read {
    private let bucket: BucketName
    private let id: ObjectID

    init(_ params: inout Params) throws(ServiceFailure) {
        bucket = try params.bucket()
        id = try params.id()
    }

    func run(
        _ context: ReadContext, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        try context.backend.get(id, in: bucket, into: &writer)
        return true
    }
}

/// How many objects satisfy a clause.
struct CountObjects: Read {
    private let bucket: BucketName
    private let clause: Clause

    init(_ params: inout Params) throws(ServiceFailure) {
        bucket = try params.bucket()
        clause = try params.clause()
    }

    var query: (bucket: BucketName, query: Query)? { (bucket, Query(clause: clause)) }

    func run(
        _ context: ReadContext, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        guard let count = try context.count(clause, in: bucket) else { return false }
        writer.raw("{\"count\":")
        writer.integer(count)
        writer.byte(UInt8(ascii: "}"))
        return true
    }
}

/// A page of the objects that satisfy a clause, or aggregations over all of them.
struct QueryObjects: Read {
    private let bucket: BucketName
    private let asked: Query

    init(_ params: inout Params) throws(ServiceFailure) {
        bucket = try params.bucket()
        asked = try params.query()
    }

    var query: (bucket: BucketName, query: Query)? { (bucket, asked) }

    func run(
        _ context: ReadContext, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        let start = writer.count
        writer.raw("{\"queryDescription\":")
        asked.writeDescription(to: &writer)
        if !asked.counts.isEmpty { return try aggregate(context, into: &writer) }
        writer.raw(",\"results\":[")
        let around = context.envelopeBytes + writer.count - start + "]}".utf8.count
        let request = PageRequest(
            bucket: bucket, query: asked,
            maximumBytes: context.service.limits.replyBytes - around,
            principal: context.caller.grant?.principal)
        guard
            let end = try context.backend.query(request, effort: context.effort, into: &writer)
        else { return false }
        writer.byte(UInt8(ascii: "]"))
        if let key = end.nextPaginationKey {
            writer.key("nextPaginationKey")
            writer.string(key)
        }
        writer.byte(UInt8(ascii: "}"))
        return true
    }

    private func aggregate(
        _ context: ReadContext, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        guard let count = try context.count(asked.clause, in: bucket) else { return false }
        writer.raw(",\"results\":[],\"aggregations\":{")
        writer.list(asked.counts) { name, writer in
            writer.string(name)
            writer.byte(UInt8(ascii: ":"))
            writer.integer(count)
        }
        writer.raw("}}")
        return true
    }
}

extension ReadContext {
    fileprivate func count(
        _ clause: Clause, in bucket: BucketName
    ) throws(ServiceFailure) -> Int? {
        try backend.count(clause, in: bucket, by: caller.grant?.principal, effort: effort)
    }
}

/// How a query runs.
struct ExplainQuery: Read {
    private let bucket: BucketName
    private let asked: Query
    private let analyze: Bool

    init(_ params: inout Params) throws(ServiceFailure) {
        bucket = try params.bucket()
        asked = try params.query()
        analyze = try params.bool("analyze")
    }

    func run(
        _ context: ReadContext, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        if analyze, context.effort == .light { return false }
        try context.backend.explain(
            PageRequest(bucket: bucket, query: asked), analyze: analyze, into: &writer)
        return true
    }
}

/// The next piece of a bucket's export; costly, so nothing is done with `.light` effort.
struct ExportBucket: Read {
    private let bucket: BucketName
    private let continues: Bool

    init(_ params: inout Params) throws(ServiceFailure) {
        bucket = try params.bucket()
        continues = try params.bool("continue")
    }

    func run(
        _ context: ReadContext, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        guard context.effort != .light else { return false }
        let session = context.caller.export
        if !continues {
            session.end()
            session.begin(.export(bucket, try context.backend.export(bucket)))
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
        return true
    }
}
