import Backend
import JSONText
import Objects

extension Service {
    /// Those buckets of a scope that the caller may use, by name, as many as a reply holds.
    ///
    /// - Parameter envelopeBytes: what the wire puts around the result.
    public func listBuckets(
        in scope: BucketScope, after last: BucketName?, for caller: Caller, envelopeBytes: Int,
        effort: Effort, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        guard let buckets = try backend.buckets(in: scope, after: last, effort: effort) else {
            return false
        }
        let start = writer.count
        writer.raw("{\"buckets\":[")
        let grant = caller.grant
        var end: BucketName?
        for summary in buckets where grant?.reaches(summary.bucket) ?? true {
            let before = writer.count
            if end != nil { writer.byte(UInt8(ascii: ",")) }
            summary.write(to: &writer)
            guard let page = end else {
                end = summary.bucket
                continue
            }
            let around = envelopeBytes + 2 + PageEnd.keyMemberBytes(summary.bucket.text)
            if writer.count - start + around > limits.replyBytes {
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
