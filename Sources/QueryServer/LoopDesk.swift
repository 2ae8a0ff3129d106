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

    init(limits: Limits, eventLoop: any EventLoop) {
        parser = RequestParser(limits: limits)
        writeAnswers = WriteAnswers(eventLoop: eventLoop)
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
