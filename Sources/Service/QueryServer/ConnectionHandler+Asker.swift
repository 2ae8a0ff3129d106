import BackendContract
import JSONText
import NIOCore
import Objects
import ServiceDesk

/// How a connection takes what the desk does for its requests: at once into the loop's output, or from
/// other threads by the loop's `FinishedAnswers`.
extension ConnectionHandler: Asker {
    var nodes: (any OtherNodes)? { scheduler.links }

    func answer(_ read: ReadyRead) {
        connection.answer(read.request.id, into: &scheduler.output) { writer in
            desk.answer(read, from: caller, into: &writer)
        }
    }

    func answer(_ read: ReadyRead, until stop: StopSignal?) {
        var writer = JSONWriter()
        desk.answer(read, from: caller, until: stop, into: &writer)
        // A large request is freed here, on the worker thread: the loop gets only its id.
        answer(read.request, with: writer.bytes)
    }

    func answer(_ request: ServiceRequest, with text: [UInt8]) {
        answers.put(.read(id: request.id, answer: text), for: self)
    }

    func hold(_ request: ServiceRequest, atLeast change: ChangeNumber?, since begin: Int64) {
        if change == nil, connection.mayReadAtOnce {
            return desk.start(request, for: self, since: begin)
        }
        scheduler.gate.hold(
            ReadGate.Arrival(
                user: self, request: request, begin: begin, bytes: connection.receivedBytes),
            atLeast: change)
    }

    /// Answers a read when everything has been notified that it waits for.
    func answer(_ request: ServiceRequest, after wait: Preparation.Wait, since begin: Int64) {
        guard connection.isBetweenLines else {
            return answer(ReadyRead(request: request.refused(.batchTooLong), begin: begin))
        }
        wait { [self] result in
            let read = ReadyRead(request: request, begin: begin, preparation: .waitedFor(result))
            answers.put(.waitedFor(read), for: self)
        }
    }

    func begin(_ write: Write) { scheduler.begin(bytes: write.memoryBytes, of: self) }

    func finish(_ write: FinishedWrite) { answers.put(.write(write), for: self) }

    func resume(_ request: ServiceRequest, since begin: Int64) {
        answers.put(.arrived(request, begin: begin), for: self)
    }

    func note(_ work: any WorkUnderWay) { underWay = work }
}

// MARK: Results of other threads

extension ConnectionHandler {
    /// Appends the answer from another thread's result to the output.
    func put(_ answer: FinishedAnswer) {
        switch answer {
        case .write(let finished):
            connection.answer(finished.request.id, into: &scheduler.output) { writer in
                desk.answer(finished, into: &writer)
            }
        case .mayRead(let request, let failure, let begin, _):
            let early = early.take()
            if failure == nil, let early, desk.confirms(early) {
                return connection.answer(request.id, into: &scheduler.output) {
                    $0.raw(early.bytes)
                }
            }
            let admitted = failure.map { request.refused(RPCFailure($0)) } ?? request
            desk.start(admitted, for: self, since: begin)
        case .arrived(let request, let begin):
            underWay = nil
            desk.carryOut(request, for: self, since: begin)
        case .read(let id, let answer):
            underWay = nil
            watchExport()
            connection.answer(id, into: &scheduler.output) { $0.raw(answer) }
            // At once, not when the session wakes: a batch may stand behind the request.
            if caller.watches.open() { connection.receive(.notified) }
        case .waitedFor(let read): self.answer(read)
        case .notified, .forOtherNode: preconditionFailure("it is no answer to a client")
        }
    }

    /// Parses a long text on a worker thread.
    func parse(_ text: LongText, _ eventLoop: any EventLoop) {
        desk.workers.parsing.submit(for: caller.share) { [self] in
            let found = desk.parse(text, from: caller)
            eventLoop.execute { [self] in
                take(found)
                work()
            }
        }
    }

    /// Checks after each idle period whether the export is still in use, as long as there is one.
    private func watchExport() {
        guard !isWatchingExport, caller.export.isUnderWay, let context else { return }
        isWatchingExport = true
        let idle = limits.exportIdleMilliseconds
        context.eventLoop.scheduleTask(in: .milliseconds(Int64(idle))) { [weak self] in
            guard let self else { return }
            isWatchingExport = false
            if caller.export.expire(after: .milliseconds(idle)) { watchExport() }
        }
    }
}

extension RPCFailure {
    /// The refusal of a request that has notifications before its answer, where none can stand.
    fileprivate static var batchTooLong: RPCFailure {
        .invalidRequest("the answers before it in its batch are too long; send it alone")
    }
}
