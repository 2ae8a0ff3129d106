import Backend
import JSONText
import NIOCore
import Objects
import Synchronization
import WireProtocol

/// What the connections of one event loop share, one after the other: their parser, the buffer in
/// which their answers are made, and the answers to their writes.
final class LoopDesk {
    let parser: RequestParser
    let writeAnswers: WriteAnswers
    /// Empty whenever no session is at work.
    var output = JSONWriter()
    private let queuedWriteBytes: Int
    private var writeBytes = 0
    /// Sessions that have found no room for a write.
    private var held: [SessionHandler] = []

    init(limits: Limits, eventLoop: any EventLoop) {
        queuedWriteBytes = limits.queuedWriteBytes
        parser = RequestParser(limits: limits)
        writeAnswers = WriteAnswers(eventLoop: eventLoop)
    }

    // MARK: Writes under way, of all connections

    /// Whether another write may be begun; one that waits for it holds its connection up.
    var takesWrites: Bool { writeBytes < queuedWriteBytes }

    func begin(_ write: Write) { writeBytes += write.memoryBytes }

    func end(_ write: Write) { writeBytes -= write.memoryBytes }

    /// Has a session run again when there is room for writes.
    func hold(_ session: SessionHandler) { held.append(session) }

    /// Lets those go on that were held up, as long as there is room.
    func release() {
        guard takesWrites, !held.isEmpty else { return }
        let sessions = held
        held = []
        for session in sessions { session.resume() }
    }
}

/// Answers to writes on their way from the backend's thread to an event loop: those that wait
/// together cross together.
final class WriteAnswers: Sendable {
    struct Delivery: Sendable {
        let session: SessionHandler
        let answer: FinishedWrite
    }

    private let eventLoop: any EventLoop
    private let waiting = Mutex<[Delivery]>([])

    init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func put(_ delivery: Delivery) {
        let isFirst = waiting.withLock { waiting in
            defer { waiting.append(delivery) }
            return waiting.isEmpty
        }
        if isFirst { eventLoop.execute { self.deliver() } }
    }

    private func deliver() {
        let deliveries = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for delivery in deliveries { delivery.session.receive(delivery.answer) }
        for delivery in deliveries { delivery.session.run() }
    }
}

/// A write that is durable and visible, or refused.
struct FinishedWrite: Sendable {
    let request: Request
    let write: Write
    let result: Result<WriteAnswer, ServiceFailure>
}
