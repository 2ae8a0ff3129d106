import BackendContract
import Glibc
import JSONText
import Objects
import Synchronization

/// A backend whose reads never end unless they are told to stop.
final class EndlessBackend: IdleBackend {
    let running = Atomic(0)
    let stopped = Atomic(0)

    private final class EndlessRead: PreparedRead {
        let isCostly = true
        private let backend: EndlessBackend

        init(_ backend: EndlessBackend) { self.backend = backend }

        func run(
            maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
        ) throws(ServiceFailure) -> ReadEnd {
            backend.running.add(1, ordering: .relaxed)
            while stop?.isStopped != true {}
            backend.stopped.add(1, ordering: .relaxed)
            throw ServiceFailure(.temporarilyUnavailable, "stopped")
        }
    }

    func prepare(_ request: ReadRequest) -> any PreparedRead { EndlessRead(self) }
}

/// A backend that notes on which threads its counts are prepared and run; those of the bucket
/// `costly` are.
final class WatchedBackend: IdleBackend {
    private let noted = Mutex<(prepared: [pthread_t], run: [pthread_t])>(([], []))

    /// Where counts were prepared and where they were run since the last call.
    func takeThreads() -> (prepared: [pthread_t], run: [pthread_t]) {
        noted.withLock { noted in
            defer { noted = ([], []) }
            return noted
        }
    }

    private final class WatchedRead: PreparedRead {
        let isCostly: Bool
        private let backend: WatchedBackend

        init(_ backend: WatchedBackend, isCostly: Bool) {
            (self.backend, self.isCostly) = (backend, isCostly)
        }

        func run(
            maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
        ) -> ReadEnd {
            backend.noted.withLock { $0.run.append(pthread_self()) }
            return ReadEnd(count: 7)
        }
    }

    func prepare(_ request: ReadRequest) -> any PreparedRead {
        guard case .count(_, let bucket, _) = request else { return NothingToRead() }
        noted.withLock { $0.prepared.append(pthread_self()) }
        return WatchedRead(self, isCostly: bucket.text == "costly")
    }
}

/// A backend whose counts in the bucket `cold` wait until something is built; others are costly.
final class BuildingBackend: IdleBackend {
    private typealias Ready = @Sendable (ServiceFailure?) -> Void

    private struct State {
        var waiting: [Int: Ready] = [:]
        var lastNumber = 0
        var isBuilt = false
    }

    private let state = Mutex(State())
    /// The number of reads of `cold` that are in memory, prepared.
    let prepared = Atomic(0)
    /// The number that have run.
    let run = Atomic(0)

    /// The number of reads that wait.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// Ends the building, or only the waits: with a failure.
    func end(_ failure: ServiceFailure? = nil) {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            state.isBuilt = failure == nil
            return state.waiting.values
        }
        for ready in waiting { ready(failure) }
    }

    private final class ColdRead: PreparedRead {
        let isCostly = true
        private let backend: BuildingBackend

        init(_ backend: BuildingBackend) {
            self.backend = backend
            backend.prepared.add(1, ordering: .relaxed)
        }

        deinit { backend.prepared.subtract(1, ordering: .relaxed) }

        func mayRun(
            since begin: Int64, after waits: Int, until stop: StopSignal,
            _ ready: @escaping @Sendable (ServiceFailure?) -> Void
        ) -> Bool {
            let backend = backend
            let number = backend.state.withLock { state -> Int? in
                guard !state.isBuilt else { return nil }
                state.lastNumber += 1
                state.waiting[state.lastNumber] = ready
                return state.lastNumber
            }
            guard let number else { return true }
            stop.whenStopped {
                backend.state.withLock { $0.waiting.removeValue(forKey: number) }?(nil)
            }
            return false
        }

        func run(
            maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
        ) -> ReadEnd {
            backend.run.add(1, ordering: .relaxed)
            return ReadEnd(count: 5)
        }
    }

    private final class CostlyRead: PreparedRead {
        let isCostly = true

        func run(
            maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
        ) -> ReadEnd { ReadEnd(count: 7) }
    }

    func prepare(_ request: ReadRequest) -> any PreparedRead {
        request.bucket?.text == "cold" ? ColdRead(self) : CostlyRead()
    }
}

/// A backend that holds its writes until it is told to finish them.
final class PausedBackend: IdleBackend {
    private typealias Completion = @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void

    private struct State {
        var paused: [(bytes: Int, completion: Completion)] = []
        var bytes = 0
        var most = 0
    }

    private let state = Mutex(State())

    var pausedWrites: Int { state.withLock { $0.paused.count } }
    var bufferedBytes: Int { state.withLock { $0.bytes } }
    var mostPausedBytes: Int { state.withLock { $0.most } }

    func submit(
        _ write: Write, key: RequestKey?, by owner: String,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) {
        state.withLock { state in
            state.paused.append((write.memoryBytes, completion))
            state.bytes += write.memoryBytes
            state.most = max(state.most, state.bytes)
        }
    }

    /// Finishes the oldest write; says how many that are.
    func release() -> Int {
        let oldest = state.withLock { state in
            state.paused.isEmpty ? nil : state.paused.removeFirst()
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
    var readsAtOnce: Bool { true }
    var answeredChange: ChangeNumber? { nil }
    var isReady: Bool { true }

    var readStates: ReadStates? { nil }

    func mayRead(
        _ count: Int, atLeast change: ChangeNumber?,
        _ ready: @escaping @Sendable (ServiceFailure?) -> Void
    ) -> Bool { true }

    func awaitLatest(_ ready: @escaping @Sendable (ServiceFailure?) -> Void) { ready(nil) }

    func prepare(_ request: ReadRequest) -> any PreparedRead { NothingToRead() }

    func get(
        _ id: ObjectID, in bucket: BucketName, into writer: inout JSONWriter
    ) { writer.raw("{}") }

    func export(_ bucket: BucketName) -> any BucketExport { NoExport() }

    func submit(
        _ write: Write, key: RequestKey?, by owner: String,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) { completion(.success(.deleted(0))) }

    func observe(_ observer: any StateObserver) {}

    func endObservation() {}

    func check(until stop: StopSignal?) -> CheckReport { CheckReport() }

    func backup() throws(ServiceFailure) -> any StoreBackup {
        throw ServiceFailure(.undefined, "nothing to copy")
    }

    func statistics() -> BackendStatistics { BackendStatistics() }
}

private final class NothingToRead: PreparedRead {
    let isCostly = false

    func run(
        maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
    ) -> ReadEnd { ReadEnd(count: 0) }
}

private struct NoExport: BucketExport {
    func next(maximumBytes: Int, into writer: inout JSONWriter) -> Bool { false }
}
