import Dispatch

/// Runs `body` on threads that it may block: Swift's own are few, and what it waits for may need them.
public func onBlockingThreads<Value: Sendable>(
    _ body: @Sendable () async throws -> Value
) async throws -> Value {
    try await withTaskExecutorPreference(BlockingThreads(), operation: body)
}

private final class BlockingThreads: TaskExecutor {
    private let queue = DispatchQueue(label: "geobucket.test.blocking", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
