import BackendContract
import EmbeddedBackend
import Objects
import Runtime
import Synchronization

/// The state of PostgreSQL that a node has reached, and the reads that wait for a later one.
final class AppliedState: Sendable {
    typealias Ready = @Sendable (ServiceFailure?) -> Void

    /// A read that waits until the node has reached a change.
    struct Waiter: Sendable {
        let change: ChangeNumber
        let deadline: MonotonicTime
        let ready: Ready
    }

    fileprivate struct State {
        var reached: SharedState
        /// The number of the reached state, see `ReadStates`.
        var number = AppliedState.nextNumber()
        /// The number of the state that was the head when last asked; nil if none of this node's was.
        var latest: UInt64?
        var waiters: [Waiter] = []
        /// The head when it was last seen.
        var seen: ChangeNumber
        /// When the node last had everything that PostgreSQL had.
        var current: MonotonicTime
        /// Why no later state will be reached.
        var end: ServiceFailure?
        /// The next deadline at which `timer` looks for late reads, which may be none by then; nil if
        /// no look is scheduled.
        var nextDeadline: MonotonicTime?
    }

    private let state: Mutex<State>
    private let clock: ServiceClock
    /// Refuses the reads that have waited for too long.
    private let timer = WorkThread("late reads")

    private static let late = ServiceFailure(
        .temporarilyUnavailable,
        "this node has not received in time what the read has to see from PostgreSQL")

    init(_ reached: SharedState, clock: ServiceClock) {
        self.clock = clock
        state = Mutex(State(reached: reached, seen: reached.change, current: clock.now))
    }

    /// The state that readers see.
    var reached: SharedState { state.withLock { $0.reached } }

    /// What reads see.
    var readStates: ReadStates {
        state.withLock { ReadStates(present: $0.number, latest: $0.latest) }
    }

    /// The state that readers see, and its number.
    var numbered: (state: SharedState, number: UInt64) {
        state.withLock { ($0.reached, $0.number) }
    }

    private static let lastNumber = Atomic<UInt64>(0)

    private static func nextNumber() -> UInt64 {
        lastNumber.add(1, ordering: .relaxed).newValue
    }

    /// The number of the last change that PostgreSQL was seen to have.
    var seen: ChangeNumber { state.withLock { $0.seen } }

    /// For how long the node may have lacked something that PostgreSQL has.
    var lag: Duration { state.withLock { $0.current.duration(to: clock.now) } }

    /// Notes a later state, and lets the reads go on that waited for it.
    func reach(_ reached: SharedState) {
        let ready = state.withLock { state in
            guard reached.change >= state.reached.change else { return [Waiter]() }
            (state.reached, state.number) = (reached, Self.nextNumber())
            return state.take { $0.change <= reached.change }
        }
        for waiter in ready { waiter.ready(nil) }
    }

    /// Notes the head that PostgreSQL had at a time.
    func see(_ head: ChangeNumber, at time: MonotonicTime) {
        state.withLock { state in
            state.seen = max(state.seen, head)
            if state.reached.change >= head { state.current = max(state.current, time) }
        }
    }

    /// Notes whether a state was the head when PostgreSQL was asked.
    ///
    /// - Parameter number: the number of the state; nil if the head was later.
    func confirm(_ number: UInt64?) { state.withLock { $0.latest = number } }

    /// Lets reads go on as soon as the node has reached a change, or refuses them at their deadlines.
    func wait(_ waiters: [Waiter]) {
        let (ready, end, deadline) = state.withLock { state in
            state.waiters += waiters
            let (reached, end) = (state.reached.change, state.end)
            return (
                state.take { $0.change <= reached || end != nil }, end, state.newDeadline()
            )
        }
        for waiter in ready { waiter.ready(end) }
        if let deadline { refuse(at: deadline) }
    }

    /// Refuses all reads that wait, and those to come.
    func end(_ failure: ServiceFailure) {
        state.withLock { $0.end = failure }
        wait([])
    }

    private func refuse(at deadline: MonotonicTime) {
        timer.async(after: clock.now.duration(to: deadline)) { [weak self] in
            self?.refuseLate(deadline)
        }
    }

    private func refuseLate(_ due: MonotonicTime) {
        let now = clock.now
        let (late, deadline) = state.withLock { state -> ([Waiter], MonotonicTime?) in
            // Another deadline has become the earliest, and has a job of its own.
            guard state.nextDeadline == due else { return ([], nil) }
            let late = state.take { $0.deadline <= now }
            state.nextDeadline = nil
            return (late, state.newDeadline())
        }
        for waiter in late { waiter.ready(Self.late) }
        if let deadline { refuse(at: deadline) }
    }
}

extension AppliedState.State {
    /// Notes the earliest deadline of the reads that wait.
    ///
    /// - Returns: the deadline, if it is earlier than the one noted before.
    fileprivate mutating func newDeadline() -> MonotonicTime? {
        guard let first = waiters.lazy.map(\.deadline).min(),
            nextDeadline.map({ first < $0 }) ?? true
        else {
            return nil
        }
        nextDeadline = first
        return first
    }

    /// Removes and returns some waiters.
    fileprivate mutating func take(
        where isTaken: (AppliedState.Waiter) -> Bool
    ) -> [AppliedState.Waiter] {
        guard waiters.contains(where: isTaken) else { return [] }
        let taken = waiters.filter(isTaken)
        waiters.removeAll(where: isTaken)
        return taken
    }
}
