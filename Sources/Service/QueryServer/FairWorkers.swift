import NIOPosix
import Runtime
import Synchronization

/// Threads for what would hold up an event loop, dealt out fairly: those who wait have their turns
/// one after the other, and nobody has all the threads.
///
///     workers.submit(for: caller.share) { … }
///
/// Where there is more than one thread, one owner's jobs never take the last that is free: somebody
/// else's job begins at once, however long those of the first take.
final class FairWorkers: Sendable {
    private typealias Job = @Sendable () -> Void

    private struct State {
        var waiting = FairQueue<Job>()
        var running: [String: Int] = [:]
        var free: Int

        init(free: Int) { self.free = free }

        /// The job that is to begin now, counted as running; nil when there is no thread for any.
        mutating func takeNext(mostOfOne: Int) -> (owner: String, job: Job)? {
            // Few are passed over: each of those has as many threads as one may.
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

    /// Has a job done on some thread when its owner's turn comes; dropped when the threads end before.
    func submit(for owner: String, _ job: @escaping @Sendable () -> Void) {
        state.withLock { $0.waiting.append(job, of: owner) }
        beginNext()
    }

    /// Ends the threads when what runs on them has ended.
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
