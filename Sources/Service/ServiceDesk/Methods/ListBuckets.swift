import BackendContract
import JSONText
import Objects

/// Lists the buckets of a scope within the caller's reach, by name, as many as a reply can contain.
final class ListBuckets: Read {
    private let scope: BucketScope
    /// The page key: the last bucket of the previous page.
    private let last: BucketName?

    init(in scope: BucketScope, after last: BucketName?) {
        (self.scope, self.last) = (scope, last)
    }

    convenience init(_ params: inout Params) throws(ServiceFailure) {
        var scope = BucketScope.application
        if let text = try params.optionalString("scope") {
            scope = try BucketScope(text, at: "scope")
        }
        guard let key = try params.optionalString("paginationKey") else {
            self.init(in: scope, after: nil)
            return
        }
        guard let last = try? BucketName(key), last.scope == scope else {
            throw params.failure("paginationKey", "it is no key of a page of these buckets")
        }
        self.init(in: scope, after: last)
    }

    var gathering: Gathering? { .buckets(in: scope, after: last) }

    func prepare(for caller: Caller, on service: QueryService) throws(ServiceFailure) -> Preparation
    {
        let reach = service.admission.reach(of: caller)
        let request = ReadRequest.buckets(
            in: scope, after: last, among: reach.named(in: scope), where: reach.contains)
        return .planned(try service.backend.prepare(request))
    }

    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure) {
        let start = writer.count
        writer.raw("{\"buckets\":")
        try context.writePage(from: start, to: &writer)
    }
}
