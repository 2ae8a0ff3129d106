import BackendContract
import JSONText
import Objects
import QueryLanguage

/// Counts the objects that match a clause by cells of the world's grid.
final class ClusterObjects: Read {
    private let bucket: BucketName
    private let query: ClusterQuery

    var target: BucketName? { bucket }

    init(_ query: ClusterQuery, in bucket: BucketName) {
        (self.query, self.bucket) = (query, bucket)
    }

    convenience init(_ params: inout Params) throws(ServiceFailure) {
        let bucket = try params.bucket()
        self.init(try params.clusterQuery(), in: bucket)
    }

    func prepare(for caller: Caller, on service: QueryService) throws(ServiceFailure) -> Preparation
    {
        .planned(
            try service.backend.prepare(.clusters(query, in: bucket, by: caller.grant?.principal)))
    }

    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure) {
        try context.findWithinReply(into: &writer)
    }
}

/// Lists the fields of a bucket's objects with their types.
final class ListFields: Read {
    private let bucket: BucketName

    var target: BucketName? { bucket }

    init(of bucket: BucketName) { self.bucket = bucket }

    convenience init(_ params: inout Params) throws(ServiceFailure) {
        self.init(of: try params.bucket())
    }

    func prepare(for caller: Caller, on service: QueryService) throws(ServiceFailure) -> Preparation
    {
        .planned(try service.backend.prepare(.fields(in: bucket)))
    }

    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure) {
        try context.findWithinReply(into: &writer)
    }
}
