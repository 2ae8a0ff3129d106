import CGlibc
import DequeModule
import Dispatch
import Foundation
import Synchronization

/// A thread with its own name and priority that runs jobs one after the other, in the order in
/// which they were submitted.
///
/// The thread ends when this object has been released and every job is done. Jobs may retain the
/// object.
public final class WorkThread: Sendable {
    private let inbox = Inbox()

    /// - Parameters:
    ///   - name: the name that system tools show. Linux keeps 15 bytes of it.
    ///   - niceness: the priority relative to other threads.
    public init(_ name: String, _ niceness: Niceness = .none) {
        Thread { [inbox] in
            // Foundation's own name is lost if the thread runs before Foundation has noted it.
            gb_name_thread(name)
            niceness.take()
            while let job = inbox.next() { job.run() }
        }.start()
    }

    deinit { inbox.end() }

    /// Runs a job after the jobs that were submitted before it.
    public func async(_ job: @escaping @Sendable () -> Void) { inbox.add(Job(run: job), at: nil) }

    /// Runs a job after a delay, or as soon as this object is released.
    public func async(after delay: Duration, _ job: @escaping @Sendable () -> Void) {
        inbox.add(Job(run: job), at: .now + delay)
    }

    /// Runs a job in its turn and returns when the job is done. A job must never call this.
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try withoutActuallyEscaping(body) { body throws(Failure) in
            let turn = Turn(body)
            inbox.add(Job { turn.run() }, at: nil)
            return try turn.outcome().get()
        }
    }

    /// Returns when every job submitted before is done.
    public func drain() { sync {} }
}

/// A closure in a structure: as an element of a generic collection, a bare one is wrapped anew each
/// time that it goes in or out.
private struct Job: Sendable {
    let run: @Sendable () -> Void
}

/// The jobs of a thread.
private final class Inbox: Sendable {
    fileprivate struct State {
        var jobs: Deque<Job> = []
        /// In the order of their times.
        var later: Deque<(at: ContinuousClock.Instant, job: Job)> = []
        var isEnding = false
        var isWaiting = false
    }

    private let state = Mutex(State())
    /// Signalled when the thread waits. The thread may still find nothing new.
    private let awake = DispatchSemaphore(value: 0)

    func add(_ job: Job, at time: ContinuousClock.Instant?) {
        change { state in
            if let time { state.add(job, at: time) } else { state.jobs.append(job) }
        }
    }

    func end() { change { $0.isEnding = true } }

    private func change(_ body: (inout State) -> Void) {
        let wakes = state.withLock { state in
            body(&state)
            defer { state.isWaiting = false }
            return state.isWaiting
        }
        if wakes { awake.signal() }
    }

    /// Waits for the next job; nil when the thread has to end.
    func next() -> Job? {
        while true {
            let (job, isOver, due) = state.withLock { $0.take(.now) }
            if job != nil || isOver { return job }
            if let due {
                let microseconds = Int(max(.zero, due - .now) / .microseconds(1)) + 1
                _ = awake.wait(timeout: .now() + .microseconds(microseconds))
            } else {
                awake.wait()
            }
        }
    }
}

extension Inbox.State {
    /// - Complexity: O(jobs that are due later), which are few: delays are much alike.
    fileprivate mutating func add(_ job: Job, at time: ContinuousClock.Instant) {
        var index = later.count
        while index > 0, later[index - 1].at > time { index -= 1 }
        later.insert((time, job), at: index)
    }

    /// The next job. If there is none, it returns whether the thread has to end or, otherwise, when
    /// the next job is due.
    fileprivate mutating func take(
        _ now: ContinuousClock.Instant
    ) -> (job: Job?, isOver: Bool, due: ContinuousClock.Instant?) {
        if let first = later.first, isEnding || first.at <= now {
            jobs.append(later.removeFirst().job)
        }
        let job = jobs.popFirst()
        isWaiting = job == nil && !isEnding
        return (job, isEnding, job == nil ? later.first?.at : nil)
    }
}

/// A caller's job and its outcome.
///
/// `@unchecked Sendable`: the caller waits for the thread, and reads the outcome only after that.
private final class Turn<Value, Failure: Error>: @unchecked Sendable {
    /// Released once it has run, because it belongs to the stack frame of the waiting caller.
    private var body: (() throws(Failure) -> Value)?
    private var result: Result<Value, Failure>?
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping () throws(Failure) -> Value) { self.body = body }

    func run() {
        result = Result(catching: body!)
        body = nil
        done.signal()
    }

    func outcome() -> Result<Value, Failure> {
        done.wait()
        return result!
    }
}
