import Dispatch
import Synchronization

/// Worker threads for tasks that would block others, shared fairly: a free thread goes to the owner
/// with the fewest running jobs, among equals by turns, and no owner can occupy all threads.
///
///     workers.submit(for: owner) { … }
///
/// With more than one thread, the jobs of one owner never take the last free thread: another
/// owner's job starts at once, however long the first owner's jobs run. Owners that always have jobs
/// waiting soon have as many threads each, and so as much of the processors, whatever their jobs take.
public final class FairWorkers: Sendable {
    private typealias Job = @Sendable () -> Void

    private struct State {
        var waiting = FairQueue<Job>()
        var running: [String: Int] = [:]
        var free: [WorkThread]
        var isEnding = false

        init(free: [WorkThread]) { self.free = free }

        /// Starts every job for which there is a thread.
        mutating func start(
            mostOfOne: Int, _ run: (@escaping Job, _ owner: String, WorkThread) -> Void
        ) {
            while !free.isEmpty {
                guard let (owner, job) = next(mostOfOne: mostOfOne) else { return }
                running[owner, default: 0] += 1
                // The one that is free the longest: the last may still release its job.
                run(job, owner, free.removeFirst())
            }
        }

        /// Skips few owners: each one skipped has a thread.
        private mutating func next(mostOfOne: Int) -> (owner: String, element: Job)? {
            let running = running
            for count in 0..<mostOfOne {
                let next = waiting.popFirst { running[$0, default: 0] == count }
                if let next { return next }
            }
            return nil
        }

        mutating func end(of owner: String, on thread: WorkThread) {
            free.append(thread)
            running[owner]! -= 1
            if running[owner] == 0 { running[owner] = nil }
        }
    }

    private let threads: [WorkThread]
    private let mostOfOne: Int
    private let state: Mutex<State>
    /// The jobs that have not ended.
    private let unfinished = DispatchGroup()

    /// - Parameters:
    ///   - name: the name of the threads; each has its number behind it.
    ///   - count: the number of threads.
    public init(_ name: String, _ niceness: Niceness, threads count: Int) {
        threads = (0..<count).map { WorkThread("\(name) \($0)", niceness) }
        mostOfOne = max(1, count - 1)
        state = Mutex(State(free: threads))
    }

    /// Runs a job on some thread when its owner's turn comes. The job is dropped if the threads end
    /// first.
    public func submit(for owner: String, _ job: @escaping @Sendable () -> Void) {
        change { state in
            guard !state.isEnding else { return }
            unfinished.enter()
            state.waiting.append(job, of: owner)
        }
    }

    /// The number of jobs that wait for a thread.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Returns when no job waits or runs. Jobs that are submitted meanwhile may be waited for.
    public func drain() { unfinished.wait() }

    /// Drops the jobs that wait, and returns after those that run.
    public func shutdownGracefully() async {
        let dropped = state.withLock { state in
            defer { state.waiting = FairQueue() }
            state.isEnding = true
            return state.waiting
        }
        for _ in 0..<dropped.count { unfinished.leave() }
        withExtendedLifetime(dropped) {}
        for thread in threads {
            await withCheckedContinuation { end in thread.async { end.resume() } }
        }
    }

    /// Changes the state, and starts what may start then. Jobs go to their threads under the lock, so
    /// that none comes after the end.
    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            state.start(mostOfOne: mostOfOne) { job, owner, thread in
                thread.async { [self] in
                    job()
                    change { $0.end(of: owner, on: thread) }
                    unfinished.leave()
                }
            }
        }
    }
}
