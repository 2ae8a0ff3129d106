import BackendContract
import JSONText
import Objects
import QueryLanguage

extension PreparedRead {
    /// Appends all that it finds.
    public func run(into writer: inout JSONWriter) throws(ServiceFailure) -> ReadEnd {
        try run(maximumBytes: .max, until: nil, into: &writer)
    }
}

extension Backend {
    /// How many objects satisfy a clause.
    public func count(
        _ clause: Clause, in bucket: BucketName, by principal: String? = nil
    ) throws(ServiceFailure) -> Int {
        var writer = JSONWriter()
        return try prepare(.count(clause, in: bucket, by: principal)).run(into: &writer).count
    }
}
