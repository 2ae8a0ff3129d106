import Runtime
import Synchronization

/// The writer's thread. A job on it is a turn: everybody who writes waits for its end. So each is
/// measured by the processor time that it takes.
final class WriterThread: Sendable {
    private let thread = WorkThread("writer", .writer)
    private let metrics: StoreMetrics
    private let longest = Atomic<Int64>(0)

    init(metrics: StoreMetrics) { self.metrics = metrics }

    /// The longest turn since the last call, in processor time.
    func takeLongestTurn() -> Duration {
        .nanoseconds(longest.exchange(0, ordering: .relaxed))
    }

    /// Runs a job after the jobs that were submitted before it.
    func async(_ job: @escaping @Sendable () -> Void) { thread.async { [self] in turn(job) } }

    /// Runs a job after a delay.
    func async(after delay: Duration, _ job: @escaping @Sendable () -> Void) {
        thread.async(after: delay) { [self] in turn(job) }
    }

    /// Runs a job in its turn and returns when the job is done.
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try thread.sync { () throws(Failure) in try turn(body) }
    }

    /// Returns when every job submitted before is done.
    func drain() { thread.drain() }

    private func turn<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let start = ThreadClock.now
        defer {
            let time = start.duration(to: ThreadClock.now)
            metrics.turned(time)
            longest.max(time.nanoseconds, ordering: .relaxed)
        }
        return try body()
    }
}
