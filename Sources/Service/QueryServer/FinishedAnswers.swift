import BackendContract
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

/// Passes what the backend's threads have finished to an event loop: all that is waiting goes in one
/// task.
final class FinishedAnswers: Sendable {
    typealias Item = (user: any ScheduledConnection, finished: FinishedAnswer)

    private let eventLoop: any EventLoop
    private let executor: LoopExecutor
    private let waiting = Mutex<[Item]>([])

    init(eventLoop: any EventLoop, executor: LoopExecutor) {
        self.eventLoop = eventLoop
        self.executor = executor
    }

    func put(_ finished: FinishedAnswer, for user: any ScheduledConnection) {
        put { $0.append((user, finished)) }
    }

    func put(_ all: [Item]) { put { $0 += all } }

    private func put(_ add: (inout [Item]) -> Void) {
        let isFirst = waiting.withLock { waiting in
            defer { add(&waiting) }
            return waiting.isEmpty
        }
        if isFirst { executor.execute(on: eventLoop) { self.deliver() } }
    }

    private func deliver() {
        let all = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for (user, finished) in all { user.take(finished) }
        for (user, _) in all { user.goOn() }
    }
}
