import DequeModule
import Dispatch
import Foundation
import Synchronization

/// A thread with a name and a priority of its own that does jobs one after the other, in the order in
/// which they were handed over.
///
/// It ends when this object is gone and every job is done. Jobs may hold the object.
public final class WorkThread: Sendable {
    private let inbox = Inbox()

    /// - Parameters:
    ///   - name: what the system's tools show, of which Linux keeps 15 bytes.
    ///   - niceness: when it gives way to other threads.
    public init(_ name: String, _ niceness: Niceness = .none) {
        Thread { [inbox] in
            Thread.current.name = name
            niceness.take()
            while let job = inbox.next() { job() }
        }.start()
    }

    deinit { inbox.end() }

    /// Has a job done after those that were handed over before.
    public func async(_ job: @escaping @Sendable () -> Void) { inbox.add(job, at: nil) }

    /// Has a job done after a while, or as soon as this object is gone.
    public func async(after delay: Duration, _ job: @escaping @Sendable () -> Void) {
        inbox.add(job, at: .now + delay)
    }

    /// Does a job in its turn and returns when it is done. Never to be called by a job.
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try withoutActuallyEscaping(body) { body throws(Failure) in
            let turn = Turn(body)
            inbox.add({ turn.run() }, at: nil)
            return try turn.outcome().get()
        }
    }

    /// Returns when every job that was handed over before is done.
    public func drain() { sync {} }
}

/// The jobs of a thread.
private final class Inbox: Sendable {
    typealias Job = @Sendable () -> Void

    fileprivate struct State {
        var jobs: Deque<Job> = []
        var later: [(at: ContinuousClock.Instant, job: Job)] = []
        var isEnding = false
        var isWaiting = false
    }

    private let state = Mutex(State())
    /// Signalled when the thread waits; it may find nothing new all the same.
    private let awake = DispatchSemaphore(value: 0)

    func add(_ job: @escaping Job, at time: ContinuousClock.Instant?) {
        change { state in
            if let time { state.later.append((time, job)) } else { state.jobs.append(job) }
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

    /// The next job, once there is one; nil at the end.
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
    /// The next job; or whether there will be none, or else from when on there will be one.
    fileprivate mutating func take(
        _ now: ContinuousClock.Instant
    ) -> (job: Inbox.Job?, isOver: Bool, due: ContinuousClock.Instant?) {
        if let due = later.firstIndex(where: { isEnding || $0.at <= now }) {
            jobs.append(later.remove(at: due).job)
        }
        let job = jobs.popFirst()
        isWaiting = job == nil && !isEnding
        return (job, isEnding, job == nil ? later.map(\.at).min() : nil)
    }
}

/// Somebody else's job, and how it ended.
///
/// `@unchecked Sendable`: whoever hands it over waits for the thread, and takes the outcome after it.
private final class Turn<Value, Failure: Error>: @unchecked Sendable {
    /// Let go of once it has run, since it is whose frame waits.
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
