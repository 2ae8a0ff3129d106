import BackendContract
import DequeModule
import NIOCore
import Objects
import Synchronization

/// Passes what the backend's threads have finished to an event loop, in order. All that is waiting
/// goes in one task, or in several turns if it is much.
final class FinishedAnswers: Sendable {
    typealias Item = (user: any ScheduledConnection, finished: FinishedAnswer)

    private struct State {
        var waiting: Deque<Item> = []
        /// Whether a task of the loop is to come that delivers.
        var isDue = false
        /// The number of items since the last turn.
        var delivered = 0
    }

    /// The number of items after which the others wait for a turn. To answer and to send one takes
    /// some fifteen microseconds.
    static let most = 128

    private let eventLoop: any EventLoop
    private let executor: LoopExecutor
    private let turns: LoopTurns
    private let state = Mutex(State())

    init(eventLoop: any EventLoop, executor: LoopExecutor, turns: LoopTurns) {
        self.eventLoop = eventLoop
        self.executor = executor
        self.turns = turns
    }

    func put(_ finished: FinishedAnswer, for user: any ScheduledConnection) {
        put { $0.append((user, finished)) }
    }

    func put(_ all: [Item]) { put { $0 += all } }

    private func put(_ add: (inout Deque<Item>) -> Void) {
        let isFirst = state.withLock { state in
            add(&state.waiting)
            defer { state.isDue = true }
            return !state.isDue
        }
        if isFirst { executor.execute(on: eventLoop) { self.deliver() } }
    }

    private func deliver() {
        let (some, isMuch) = state.withLock { state in
            var some: Deque<Item> = []
            let room = Self.most - state.delivered
            if state.waiting.count > room {
                some = Deque(state.waiting.prefix(room))
                state.waiting.removeFirst(room)
            } else {
                swap(&some, &state.waiting)
            }
            state.delivered += some.count
            // If it is not due, none are left.
            state.isDue = state.delivered == Self.most
            return (some, state.isDue)
        }
        for (user, finished) in some { user.take(finished) }
        for (user, _) in some { user.goOn() }
        guard isMuch else { return }
        turns.appendUrgent { [self] in
            state.withLock { $0.delivered = 0 }
            deliver()
        }
    }
}
