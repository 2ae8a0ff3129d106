import Dispatch
import GeoBucketClient
import Synchronization

// The blocking forms, for scripts and threads of the app's own. Swift does not let them be called
// from async functions, whose threads they would hold up.

/// What a task leaves for the thread that waits for it.
private final class Outcome<Value: Sendable>: Sendable {
    let result = Mutex<Result<Value, any Error>?>(nil)
}

/// Runs what is waited for on a thread of its own, since the threads that wait may be all of the
/// runtime's.
private final class BlockingExecutor: TaskExecutor {
    static let shared = BlockingExecutor()

    private let queue = DispatchQueue(label: "geobucket.synchronous")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Runs an async function and waits for it on the calling thread; errors are as Kii's.
@available(*, noasync)
private func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
) throws -> Value {
    let outcome = Outcome<Value>()
    let done = DispatchSemaphore(value: 0)
    Task.detached(executorPreference: BlockingExecutor.shared) {
        let result: Result<Value, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(KiiError.error(for: error))
        }
        outcome.result.withLock { $0 = result }
        done.signal()
    }
    done.wait()
    return try outcome.result.withLock { $0! }.get()
}

extension GeoObject {
    @available(*, noasync)
    public func saveSynchronous() throws { try blocking { try await self.save() } }

    @available(*, noasync)
    public func saveSynchronous(_ forced: Bool) throws {
        try blocking { try await self.save(forced: forced) }
    }

    @available(*, noasync)
    public func saveAllFieldsSynchronous(_ forced: Bool) throws {
        try blocking { try await self.saveAllFields(forced: forced) }
    }

    @available(*, noasync)
    public func refreshSynchronous() throws { try blocking { try await self.refresh() } }

    @available(*, noasync)
    public func deleteSynchronous() throws { try blocking { try await self.delete() } }
}

extension Bucket {
    /// One page of objects; `nextQuery` asks for the next one, nil when there is none.
    @available(*, noasync)
    public func executeQuerySynchronous(
        _ query: BucketQuery?, nextQuery: inout BucketQuery?
    ) throws -> [GeoObject] {
        let query = query ?? BucketQuery()
        let result = try blocking { try await self.execute(query) }
        nextQuery = result.nextQuery
        return result.objects
    }

    /// One page of objects, by `nextQuery: nil` where the next is of no interest.
    @available(*, noasync)
    public func executeQuerySynchronous(
        _ query: BucketQuery?, nextQuery: Never?
    ) throws -> [GeoObject] {
        var next: BucketQuery?
        return try executeQuerySynchronous(query, nextQuery: &next)
    }

    @available(*, noasync)
    public func countObjectsSynchronous() throws -> Int { try blocking { try await self.count() } }

    @available(*, noasync)
    public func countObjectsSynchronous(_ query: BucketQuery, error: Void = ()) throws -> Int {
        try blocking { try await self.count(query) }
    }

    @available(*, noasync)
    public func deleteSynchronous() throws { try blocking { _ = try await self.delete() } }
}
