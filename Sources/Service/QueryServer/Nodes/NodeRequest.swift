import BackendContract
import JSONText
import Objects
import ServiceDesk

/// A request that another node has forwarded for a caller.
///
/// `@unchecked Sendable`: the handler is used on its event loop only.
final class NodeRequest: Asker, @unchecked Sendable {
    /// What other threads have finished.
    enum Finished: Sendable {
        case write(FinishedWrite)
        case read([UInt8])
        case mayRead(ServiceRequest, ServiceFailure?)
    }

    /// Its number on the connection.
    let number: UInt64
    let caller: Caller
    /// When it came, by the monotonic clock.
    let begin: Int64
    private let callerNumber: UInt64
    private let handler: NodeServerHandler
    private let answers: FinishedAnswers

    init(
        _ number: UInt64, by caller: (number: UInt64, Caller), on handler: NodeServerHandler
    ) {
        (self.number, self.handler) = (number, handler)
        (callerNumber, self.caller) = (caller.number, caller.1)
        begin = handler.desk.service.clock.nanoseconds()
        answers = handler.scheduler.finishedAnswers
    }

    /// The node that gathers asks each for its own answer, and none forwards a request again.
    var nodes: (any OtherNodes)? { nil }

    func answer(_ read: ReadyRead) {
        handler.answer(self) { handler.desk.answer(read, from: caller, into: &$0) }
    }

    func answer(_ read: ReadyRead, until stop: StopSignal?) {
        var writer = JSONWriter()
        handler.desk.answer(read, from: caller, until: stop, into: &writer)
        answer(read.request, with: writer.bytes)
    }

    func answer(_ request: ServiceRequest, with text: [UInt8]) { put(.read(text)) }

    func hold(_ request: ServiceRequest, atLeast change: ChangeNumber?, since begin: Int64) {
        let mayRead = handler.desk.service.mayRead(1, atLeast: change) { [self] failure in
            put(.mayRead(request, failure))
        }
        if mayRead { handler.desk.start(request, for: self, since: begin) }
    }

    func answer(_ request: ServiceRequest, after wait: Preparation.Wait, since begin: Int64) {
        let refused = request.refused(.invalidRequest("it belongs to a client's connection"))
        answer(ReadyRead(request: refused, begin: begin))
    }

    func begin(_ write: Write) { handler.scheduler.begin(bytes: write.memoryBytes, of: handler) }

    func finish(_ write: FinishedWrite) { put(.write(write)) }

    func resume(_ request: ServiceRequest, since begin: Int64) {
        preconditionFailure("it is not forwarded again")
    }

    func note(_ work: any WorkUnderWay) {
        handler.underWay[number] = (callerNumber, work)
    }

    private func put(_ finished: Finished) {
        answers.put(.forOtherNode(self, finished), for: handler)
    }
}
