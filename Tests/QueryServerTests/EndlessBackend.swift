import Backend
import JSONText
import Objects
import QueryLanguage
import Synchronization

/// A backend whose counts never end unless they are told to stop.
final class EndlessBackend: Backend {
    let storeName = "none"
    let running = Atomic(0)
    let stopped = Atomic(0)

    func count(
        _ clause: Clause, in bucket: BucketName, effort: Effort
    ) throws(ServiceFailure) -> Int? {
        guard effort != .light else { return nil }
        running.add(1, ordering: .relaxed)
        while !effort.isStopped {}
        stopped.add(1, ordering: .relaxed)
        throw ServiceFailure(.temporarilyUnavailable, "stopped")
    }

    func query(
        _ request: PageRequest, effort: Effort, into writer: inout JSONWriter
    ) -> PageEnd? { PageEnd(objects: 0) }

    func buckets(in scope: BucketScope) -> [BucketSummary] { [] }

    func get(
        _ id: ObjectID, in bucket: BucketName, into writer: inout JSONWriter
    ) { writer.raw("{}") }

    func explain(
        _ request: PageRequest, analyze: Bool, into writer: inout JSONWriter
    ) { writer.raw("{}") }

    func export(_ bucket: BucketName) -> any BucketExport { NoExport() }

    func submit(
        _ write: Write,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) { completion(.success(.deleted(0))) }

    func statistics() -> BackendStatistics { BackendStatistics() }

    private struct NoExport: BucketExport {
        func next(maximumBytes: Int, into writer: inout JSONWriter) -> Bool { false }
    }
}
