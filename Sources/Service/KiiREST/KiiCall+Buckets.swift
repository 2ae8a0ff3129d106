import HTTPTypes
import JSONText
import WebExchange

/// Buckets: their size, their end, and queries.
extension KiiCall {
    /// `…/buckets/{bucket}`.
    func answerBucket(_ place: KiiPlace) async throws(KiiFailure) -> WebAnswer {
        switch method {
        case .get, .head:
            let count = try reading(try await call(.count, place)) { $0["count"]?.number?.exactInt }
            var writer = JSONWriter()
            writer.raw("{\"bucketType\":\"rw\",\"size\":")
            writer.integer(count)
            writer.byte(UInt8(ascii: "}"))
            return WebAnswer("application/vnd.kii.BucketRetrievalResponse+json", writer.bytes)
        case .delete:
            _ = try await call(.deleteBucket, place)
            return WebAnswer(.noContent)
        default: throw unsupported([.get, .head, .delete])
        }
    }

    /// `…/buckets/{bucket}/query`.
    func answerQuery(_ place: KiiPlace) async throws(KiiFailure) -> WebAnswer {
        guard method == .post else { throw unsupported([.post]) }
        let query = try KiiText.query(try body())
        let result = try await call(.query, place) { $0.raw(query) }
        return WebAnswer(
            "application/vnd.kii.QueryResultRetrievalResponse+json",
            try reading(result, KiiText.page))
    }
}
