import BackendContract
import Objects
import Runtime
import Synchronization

/// What an answer is made of: what this node found or wrote, or another node's text.
protocol AnswerMaker: Sendable {
    associatedtype Answer: Sendable

    /// The answer to a read, or to a request that has failed already.
    func answer(
        to read: ReadyRead, from caller: Caller, until stop: StopSignal?, at desk: Desk
    ) -> Answer

    /// The answer to a write.
    func answer(to write: FinishedWrite, at desk: Desk) -> Answer

    /// The answer that a text of the line protocol has.
    func answer(in text: [UInt8]) -> Answer
}

/// A request whose answer a task waits for.
///
///     let pending = PendingAnswer(by: maker, at: desk, caller, nodes)
///     desk.carryOut(request, for: pending, since: now)
///     let answer = await pending.value()
///
/// A costly read ends with the task, and when the client is gone.
final class PendingAnswer<Maker: AnswerMaker>: Asker {
    /// What happens to the request.
    private enum Event: Sendable {
        case answered(Maker.Answer)
        case answeredElsewhere([UInt8])
        /// The backend has let the read begin, or has not.
        case mayRead(ServiceRequest, ServiceFailure?, begin: Int64)
        case resumed(ServiceRequest, begin: Int64)
    }

    private struct State {
        var event: Event?
        var continuation: CheckedContinuation<Event, Never>?
        var work: (any WorkUnderWay)?
        var isOver = false
    }

    let caller: Caller
    let nodes: (any OtherNodes)?
    private let desk: Desk
    private let maker: Maker
    private let state = Mutex(State())

    init(by maker: Maker, at desk: Desk, _ caller: Caller, _ nodes: (any OtherNodes)?) {
        (self.maker, self.desk, self.caller, self.nodes) = (maker, desk, caller, nodes)
    }

    /// The answer, when there is one.
    func value() async -> Maker.Answer {
        let client = ClientPresence.current
        client?.onEnd { self.end() }
        defer { client?.onEnd(nil) }
        return await withTaskCancellationHandler {
            while true {
                switch await next() {
                case .answered(let answer): return answer
                case .answeredElsewhere(let text): return maker.answer(in: text)
                case .mayRead(let request, let failure, let begin):
                    let admitted = failure.map { request.refused(RPCFailure($0)) } ?? request
                    desk.start(admitted, for: self, since: begin)
                case .resumed(let request, let begin):
                    desk.carryOut(request, for: self, since: begin)
                }
            }
        } onCancel: {
            end()
        }
    }

    private func next() async -> Event {
        await withCheckedContinuation { continuation in
            let event = state.withLock { state in
                if state.event == nil { state.continuation = continuation }
                defer { state.event = nil }
                return state.event
            }
            if let event { continuation.resume(returning: event) }
        }
    }

    private func put(_ event: Event) {
        let continuation = state.withLock { state in
            if state.continuation == nil { state.event = event }
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: event)
    }

    private func end() {
        let work = state.withLock { state in
            state.isOver = true
            return state.work
        }
        work?.end()
    }

    // MARK: Asker

    func answer(_ read: ReadyRead) { answer(read, until: nil) }

    func answer(_ read: ReadyRead, until stop: StopSignal?) {
        put(.answered(maker.answer(to: read, from: caller, until: stop, at: desk)))
    }

    func answer(_ request: ServiceRequest, with text: [UInt8]) { put(.answeredElsewhere(text)) }

    func hold(_ request: ServiceRequest, atLeast change: ChangeNumber?, since begin: Int64) {
        let mayRead = desk.service.mayRead(1, atLeast: change) { failure in
            self.put(.mayRead(request, failure, begin: begin))
        }
        if mayRead { desk.start(request, for: self, since: begin) }
    }

    func answer(_ request: ServiceRequest, after wait: Preparation.Wait, since begin: Int64) {
        preconditionFailure("only a connection's own methods wait, and are refused")
    }

    func begin(_ write: Write) {}

    func finish(_ write: FinishedWrite) { put(.answered(maker.answer(to: write, at: desk))) }

    func resume(_ request: ServiceRequest, since begin: Int64) {
        put(.resumed(request, begin: begin))
    }

    func note(_ work: any WorkUnderWay) {
        let isOver = state.withLock { state in
            state.work = work
            return state.isOver
        }
        if isOver { work.end() }
    }
}
