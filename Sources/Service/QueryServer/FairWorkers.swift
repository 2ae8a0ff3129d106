import NIOPosix
import Runtime
import Synchronization

/// Worker threads for tasks that would block an event loop, shared fairly: owners with waiting jobs
/// take turns, and no owner can occupy all threads.
///
///     workers.submit(for: caller.share) { … }
///
/// With more than one thread, the jobs of one owner never take the last free thread: another
/// owner's job starts at once, however long the first owner's jobs run.
final class FairWorkers: Sendable {
    private typealias Job = @Sendable () -> Void

    private struct State {
        var waiting = FairQueue<Job>()
        var running: [String: Int] = [:]
        var free: Int

        init(free: Int) { self.free = free }

        /// The job to start now, counted as running; nil when no thread is free for any.
        mutating func takeNext(mostOfOne: Int) -> (owner: String, job: Job)? {
            // Skips few owners: each one skipped already has as many threads as one owner may have.
            let running = running
            guard free > 0,
                let (owner, job) = waiting.popFirst(where: { running[$0, default: 0] < mostOfOne })
            else { return nil }
            free -= 1
            self.running[owner, default: 0] += 1
            return (owner, job)
        }

        mutating func end(of owner: String) {
            free += 1
            running[owner]! -= 1
            if running[owner] == 0 { running[owner] = nil }
        }
    }

    private let pool: NIOThreadPool
    private let mostOfOne: Int
    private let state: Mutex<State>

    init(threads: Int) {
        pool = NIOThreadPool(numberOfThreads: threads)
        mostOfOne = max(1, threads - 1)
        state = Mutex(State(free: threads))
        pool.start()
    }

    /// Runs a job on some thread when its owner's turn comes. The job is dropped if the threads end
    /// first.
    func submit(for owner: String, _ job: @escaping @Sendable () -> Void) {
        state.withLock { $0.waiting.append(job, of: owner) }
        beginNext()
    }

    /// Ends the threads after their present jobs.
    func shutdownGracefully() async throws { try await pool.shutdownGracefully() }

    private func beginNext() {
        while let (owner, job) = state.withLock({ $0.takeNext(mostOfOne: mostOfOne) }) {
            pool.submit { [self] status in
                guard case .active = status else { return }
                Niceness.costlyReads.take()
                job()
                state.withLock { $0.end(of: owner) }
                beginNext()
            }
        }
    }
}
