import Backend
import JSONText
import Objects
import QueryLanguage
import Synchronization

/// A backend whose counts never end unless they are told to stop.
final class EndlessBackend: IdleBackend {
    let running = Atomic(0)
    let stopped = Atomic(0)

    func count(
        _ clause: Clause, in bucket: BucketName, by principal: String?, effort: Effort
    ) throws(ServiceFailure) -> Int? {
        guard effort != .light else { return nil }
        running.add(1, ordering: .relaxed)
        while !effort.isStopped {}
        stopped.add(1, ordering: .relaxed)
        throw ServiceFailure(.temporarilyUnavailable, "stopped")
    }
}

/// A backend that holds its writes until it is told to finish them.
final class HeldBackend: IdleBackend {
    private typealias Completion = @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void

    private struct State {
        var held: [(bytes: Int, completion: Completion)] = []
        var bytes = 0
        var most = 0
    }

    private let state = Mutex(State())

    var heldWrites: Int { state.withLock { $0.held.count } }
    var heldBytes: Int { state.withLock { $0.bytes } }
    var mostHeldBytes: Int { state.withLock { $0.most } }

    func submit(
        _ write: Write, key: RequestKey?, by owner: String,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) {
        state.withLock { state in
            state.held.append((write.memoryBytes, completion))
            state.bytes += write.memoryBytes
            state.most = max(state.most, state.bytes)
        }
    }

    /// Finishes the oldest write; says how many that are.
    func release() -> Int {
        let oldest = state.withLock { state in
            state.held.isEmpty ? nil : state.held.removeFirst()
        }
        guard let oldest else { return 0 }
        state.withLock { $0.bytes -= oldest.bytes }
        oldest.completion(.success(.stored([])))
        return 1
    }
}

/// A backend whose gets fail.
final class FaultyBackend: IdleBackend {
    private let fault: ServiceFailure

    init(fault: ServiceFailure) { self.fault = fault }

    func get(
        _ id: ObjectID, in bucket: BucketName, into writer: inout JSONWriter
    ) throws(ServiceFailure) { throw fault }
}

/// A backend that has nothing and does nothing, for others to say what they do.
protocol IdleBackend: Backend {}

extension IdleBackend {
    var storeName: String { "none" }

    func count(
        _ clause: Clause, in bucket: BucketName, by principal: String?, effort: Effort
    ) -> Int? { 0 }

    func query(
        _ request: PageRequest, effort: Effort, into writer: inout JSONWriter
    ) -> PageEnd? { PageEnd(objects: 0) }

    func buckets(
        in scope: BucketScope, after last: BucketName?, effort: Effort
    ) -> [BucketSummary]? { [] }

    func get(
        _ id: ObjectID, in bucket: BucketName, into writer: inout JSONWriter
    ) { writer.raw("{}") }

    func explain(
        _ request: PageRequest, analyze: Bool, into writer: inout JSONWriter
    ) { writer.raw("{}") }

    func outline(of request: PageRequest) -> String { "nothing" }

    func export(_ bucket: BucketName) -> any BucketExport { NoExport() }

    func submit(
        _ write: Write, key: RequestKey?, by owner: String,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) { completion(.success(.deleted(0))) }

    func check(effort: Effort) -> CheckReport { CheckReport() }

    func backup() throws(ServiceFailure) -> any StoreBackup {
        throw ServiceFailure(.undefined, "nothing to copy")
    }

    func statistics() -> BackendStatistics { BackendStatistics() }
}

private struct NoExport: BucketExport {
    func next(maximumBytes: Int, into writer: inout JSONWriter) -> Bool { false }
}
