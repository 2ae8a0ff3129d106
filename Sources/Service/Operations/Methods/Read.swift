import JSONText
import Objects
import QueryLanguage

/// A call that changes nothing: its params, and what runs with them on the caller's thread.
public protocol Read: Sendable {
    /// Appends the result as JSON.
    ///
    /// - Returns: false when it asks for more than the context's effort; what has been appended by
    ///   then means nothing. It is then run again with more, on a thread that nobody waits for.
    func run(
        _ context: ReadContext, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool

    /// The query it is, whose plan the log has when it was slow.
    var query: (bucket: BucketName, query: Query)? { get }
}

extension Read {
    public var query: (bucket: BucketName, query: Query)? { nil }
}
