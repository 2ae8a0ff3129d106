import Backend
import JSONText
import Objects

/// Those buckets of a scope that the caller may use, by name, as many as a reply holds.
struct ListBuckets: Read {
    private let scope: BucketScope
    /// The key of a page is the last bucket before it.
    private let last: BucketName?

    init(_ params: inout Params) throws(ServiceFailure) {
        var scope = BucketScope.application
        if let text = try params.optionalString("scope") {
            scope = try BucketScope(text, at: "scope")
        }
        self.scope = scope
        guard let key = try params.optionalString("paginationKey") else {
            last = nil
            return
        }
        guard let last = try? BucketName(key), last.scope == scope else {
            throw params.failure("paginationKey", "it is no key of a page of these buckets")
        }
        self.last = last
    }

    func run(
        _ context: ReadContext, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        guard
            let buckets = try context.backend.buckets(
                in: scope, after: last, effort: context.effort)
        else { return false }
        let start = writer.count
        writer.raw("{\"buckets\":[")
        let grant = context.caller.grant
        var end: BucketName?
        for summary in buckets where grant?.reaches(summary.bucket) ?? true {
            let before = writer.count
            if end != nil { writer.byte(UInt8(ascii: ",")) }
            summary.write(to: &writer)
            guard let page = end else {
                end = summary.bucket
                continue
            }
            let around = context.envelopeBytes + 2 + PageEnd.keyMemberBytes(summary.bucket.text)
            if writer.count - start + around > context.service.limits.replyBytes {
                writer.truncate(to: before)
                writer.byte(UInt8(ascii: "]"))
                writer.key("nextPaginationKey")
                writer.string(page.text)
                writer.byte(UInt8(ascii: "}"))
                return true
            }
            end = summary.bucket
        }
        writer.raw("]}")
        return true
    }
}

extension BucketSummary {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.raw("{\"bucket\":")
        writer.string(bucket.text)
        writer.key("objects")
        writer.integer(objects)
        writer.raw(",\"geoFields\":[")
        writer.list(geoFields) { $1.string($0) }
        writer.raw("]}")
    }
}
