import DequeModule
import NIOCore

/// Work of an event loop that is done one piece at a time.
///
/// The loop runs all tasks that are due before it serves sockets. Everything that may go on for long
/// therefore shares this queue: one piece is done, what it has answered is sent, and after a pause
/// comes the next.
///
/// `@unchecked Sendable`: after `init`, it is used on its event loop only.
final class LoopTurns: @unchecked Sendable {
    private let eventLoop: any EventLoop
    private var ordinary: Deque<() -> Void> = []
    private var urgent: Deque<() -> Void> = []
    private var wasUrgent = false
    private var isServing = false

    /// The time between two turns, in which the loop serves its sockets. Before it does, it looks for
    /// due tasks once more, and must not find the next turn among them: with two microseconds it often
    /// does when the processors are busy.
    private static let pause = TimeAmount.microseconds(20)

    init(on eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Queues a piece of work of one connection.
    func append(_ turn: @escaping () -> Void) {
        ordinary.append(turn)
        serve()
    }

    /// Queues a piece of work that many connections wait for. Every second turn is one of these as
    /// long as there are both.
    func appendUrgent(_ turn: @escaping () -> Void) {
        urgent.append(turn)
        serve()
    }

    private func serve() {
        guard !isServing else { return }
        isServing = true
        scheduleNext()
    }

    private func scheduleNext() {
        // After the task that sends what has just been answered: the pause begins with its end.
        eventLoop.assumeIsolated().execute { [self] in
            eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [self] in takeNext() }
        }
    }

    private func takeNext() {
        wasUrgent = !urgent.isEmpty && (!wasUrgent || ordinary.isEmpty)
        let turn = wasUrgent ? urgent.popFirst() : ordinary.popFirst()
        turn?()
        isServing = !ordinary.isEmpty || !urgent.isEmpty
        if isServing { scheduleNext() }
    }
}
