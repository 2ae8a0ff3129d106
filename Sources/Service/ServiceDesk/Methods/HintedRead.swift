import BackendContract
import JSONText
import Objects
import QueryLanguage

/// A query or a count whose answer also says why nothing was found, if it was asked to.
final class HintedRead: PreparedRead {
    private let read: any PreparedRead
    private let hints: any PreparedRead

    /// - Parameters:
    ///   - query: what `read` asks for.
    ///   - caller: who may be told of buckets that it may read.
    init(
        _ read: any PreparedRead, of query: Query, in bucket: BucketName, for caller: Caller,
        on service: QueryService
    ) throws(ServiceFailure) {
        self.read = read
        hints = try service.backend.prepare(
            .hints(query, in: bucket) { bucket in
                do throws(ServiceFailure) {
                    try service.permit(caller, reading: bucket)
                    return true
                } catch {
                    return false
                }
            })
    }

    /// Only its run shows whether there is a reason to look for.
    var isCostly: Bool { read.isCostly || hints.isCostly }

    var outline: (bucket: BucketName, plan: String)? { read.outline }
    var clauseShape: String? { read.clauseShape }

    func mayRun(
        since begin: Int64, after waits: Int, until stop: StopSignal,
        _ ready: @escaping @Sendable (ServiceFailure?) -> Void
    ) -> Bool { read.mayRun(since: begin, after: waits, until: stop, ready) }

    func run(
        maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> ReadEnd {
        try read.run(maximumBytes: maximumBytes, until: stop, into: &writer)
    }

    /// Appends the member `hints`, unless no reason is known or the time is over.
    func writeHints(maximumBytes: Int, until stop: StopSignal?, to writer: inout JSONWriter) {
        let before = writer.count
        writer.key("hints")
        let end = try? hints.run(
            maximumBytes: maximumBytes - #","hints":"#.utf8.count, until: stop, into: &writer)
        if end?.count ?? 0 == 0 { writer.truncate(to: before) }
    }
}
