import BackendContract
import HTTPTypes
import JSONText
import Objects
import ServiceDesk
import WebExchange

/// Buckets: their size, their end, and queries.
extension KiiCall {
    /// `…/buckets/{bucket}`.
    func answerBucket(_ place: KiiPlace) async throws(KiiFailure) -> WebAnswer {
        switch method {
        case .get, .head:
            let count = try await ask(.count(.all, in: bucket(place)))
            var writer = JSONWriter()
            writer.raw("{\"bucketType\":\"rw\",\"size\":")
            writer.integer(count)
            writer.byte(UInt8(ascii: "}"))
            return WebAnswer("application/vnd.kii.BucketRetrievalResponse+json", writer.bytes)
        case .delete:
            _ = try await ask(.write(.deleteBucket(bucket(place))))
            return WebAnswer(.noContent)
        default: throw unsupported([.get, .head, .delete])
        }
    }

    /// `…/buckets/{bucket}/query`.
    func answerQuery(_ place: KiiPlace) async throws(KiiFailure) -> WebAnswer {
        guard method == .post else { throw unsupported([.post]) }
        let bucket = try bucket(place)
        let query = try await body { view, limits throws(ServiceFailure) in
            try KiiText.query(view, limits)
        }
        let found = try await ask(.find(query, in: bucket))
        return WebAnswer(
            "application/vnd.kii.QueryResultRetrievalResponse+json",
            try reading(own: found.objects) { KiiText.page(of: query, found, $0) })
    }
}
