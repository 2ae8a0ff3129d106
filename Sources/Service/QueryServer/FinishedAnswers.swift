import BackendContract
import DequeModule
import NIOCore
import Objects
import Synchronization

/// A write that is durable and visible, or refused.
///
/// A class because it is large, and every event and action of a connection has room for one.
final class FinishedWrite: Sendable {
    let request: Request
    let write: Write
    let result: Result<WriteAnswer, ServiceFailure>
    /// When its turn came, by the monotonic clock.
    let begin: Int64

    init(
        request: Request, write: Write, result: Result<WriteAnswer, ServiceFailure>, begin: Int64
    ) {
        self.request = request
        self.write = write
        self.result = result
        self.begin = begin
    }
}

/// Passes what the backend's threads have finished to an event loop, in order. All that is waiting
/// goes in one task, or in several if it is much, so that other connections are served in between.
final class FinishedAnswers: Sendable {
    typealias Item = (user: any ScheduledConnection, finished: FinishedAnswer)

    private struct State {
        var waiting: Deque<Item> = []
        /// Whether a task of the loop is to come that delivers.
        var isDue = false
        /// The number of items since the last pause.
        var delivered = 0
    }

    /// The number of items after which there is a pause. To answer and to send one takes some fifteen
    /// microseconds.
    static let most = 128
    /// The loop runs all tasks that are due before it serves sockets, so the next one lies in the
    /// future.
    private static let pause = TimeAmount.microseconds(20)

    private let eventLoop: any EventLoop
    private let executor: LoopExecutor
    private let state = Mutex(State())

    init(eventLoop: any EventLoop, executor: LoopExecutor) {
        self.eventLoop = eventLoop
        self.executor = executor
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
        let (some, mustPause) = state.withLock { state in
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
        guard mustPause else { return }
        // After the task that sends the answers.
        eventLoop.execute { [self] in
            eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [self] in
                state.withLock { $0.delivered = 0 }
                deliver()
            }
        }
    }
}
