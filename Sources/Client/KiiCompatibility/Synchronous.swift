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
    /// Sends the changed fields, over a newer version too, and waits; creates an object that has no
    /// id.
    ///
    /// - Throws: an `NSError` as `KiiError` describes, as all blocking calls do.
    @available(*, noasync)
    public func saveSynchronous() throws { try blocking { try await self.save() } }

    /// Sends the changed fields and waits; creates an object that has no id.
    ///
    /// - Parameter forced: whether to write over a version newer than the one that was read.
    ///   Without it that is error 512, `KiiError.codeObjectIsOlder()`.
    @available(*, noasync)
    public func saveSynchronous(_ forced: Bool) throws {
        try blocking { try await self.save(forced: forced) }
    }

    /// Sends the whole object, which replaces what the service has, and waits.
    ///
    /// - Parameter forced: whether to write over a newer version, and to create an object that is
    ///   gone.
    @available(*, noasync)
    public func saveAllFieldsSynchronous(_ forced: Bool) throws {
        try blocking { try await self.saveAllFields(forced: forced) }
    }

    /// Reads the object and waits; local changes are lost.
    @available(*, noasync)
    public func refreshSynchronous() throws { try blocking { try await self.refresh() } }

    /// Deletes the object at the service and waits; locally it keeps its fields and loses its id.
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

    /// How many objects the bucket has.
    @available(*, noasync)
    public func countObjectsSynchronous() throws -> Int { try blocking { try await self.count() } }

    /// How many objects match a query. The `error: ()` of Kii's signature may be written or left
    /// out, and carries nothing.
    @available(*, noasync)
    public func countObjectsSynchronous(_ query: BucketQuery, error: Void = ()) throws -> Int {
        try blocking { try await self.count(query) }
    }

    /// Deletes the bucket and all its objects, and waits.
    @available(*, noasync)
    public func deleteSynchronous() throws { try blocking { _ = try await self.delete() } }
}
