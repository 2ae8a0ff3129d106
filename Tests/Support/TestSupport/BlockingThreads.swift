import Foundation

/// Runs `body` on threads that it may block: Swift's own are few, and what it waits for may need them.
public func onBlockingThreads<Value: Sendable>(
    _ body: @Sendable () async throws -> Value
) async throws -> Value {
    try await withTaskExecutorPreference(BlockingThreads(), operation: body)
}

/// A thread for each job. Dispatch's concurrent queues share their few threads with the tasks of the
/// whole process, among them those of the servers that a blocked thread may wait for.
private final class BlockingThreads: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
