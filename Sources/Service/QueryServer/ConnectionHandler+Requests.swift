import BackendContract
import JSONText
import NIOCore
import Objects
import Operations
import Runtime
import WireProtocol

/// What becomes of a request on its event loop: answered there, by a worker thread, by the writer or
/// by other nodes.
extension ConnectionHandler {
    /// Carries out a request, as soon as that may begin.
    func run(_ request: Request, since begin: Int64, _ eventLoop: any EventLoop) {
        let links = scheduler.links
        let course = request.course(
            hasNodes: links != nil, mayReadAtOnce: dispatcher.service.mayReadAtOnce)
        switch course {
        case .write(let write, let key): submit(request, write, key, since: begin)
        case .passOn(let passage):
            passOn(request, passage, over: links!, since: begin, eventLoop)
        case .gather(let gathering):
            gather(request, gathering, over: links!, since: begin, eventLoop)
        case .await(let change) where change != nil || !connection.mayReadAtOnce:
            scheduler.gate.hold(
                ReadGate.Arrival(
                    user: self, request: request, begin: begin, bytes: connection.receivedBytes),
                atLeast: change)
        case .await, .run: start(request, since: begin, eventLoop)
        }
    }

    private func start(_ request: Request, since begin: Int64, _ eventLoop: any EventLoop) {
        switch dispatcher.start(request, from: caller, since: begin) {
        case .here(let read): answer(read)
        case .onWorker(let read): offload(request, read, since: begin, eventLoop)
        case .after(let wait): answer(request, after: wait, since: begin)
        }
    }

    private func answer(_ read: ReadyRead) {
        connection.answer(read.request.id, into: &scheduler.output) { writer in
            dispatcher.answer(read, from: caller, into: &writer)
        }
    }

    /// Answers a read when everything has been told that it waits for.
    private func answer(
        _ request: Request, after wait: Preparation.Wait, since begin: Int64
    ) {
        let answers = scheduler.finishedAnswers
        guard connection.isBetweenLines else {
            return answer(ReadyRead(request: request.refused(.batchTooLong), begin: begin))
        }
        wait { [self] result in
            let read = ReadyRead(request: request, begin: begin, preparation: .told(result))
            answers.put(.told(read), for: self)
        }
    }

    // MARK: Other nodes

    /// Passes a request on to a node that holds its bucket.
    private func passOn(
        _ request: Request, _ passage: Passage, over links: NodeLinks, since begin: Int64,
        _ eventLoop: any EventLoop
    ) {
        let errand = Errand(passage, by: caller, over: links, since: begin) { [self] end in
            self.errand = nil
            switch end {
            case .here: carryOut(passage, since: begin, eventLoop)
            case .answered(let answer, let node):
                dispatcher.service.counters.countPassedOn()
                if passage.beginsExport { caller.exportNode = node }
                handle(.answered(.read(id: request.id, answer: answer)))
            case .failed(let failure):
                let refused = request.refused(RPCFailure(failure))
                finish(ReadyRead(request: refused, begin: begin))
            }
        }
        self.errand = errand
        errand.start()
    }

    private func finish(_ ready: ReadyRead) {
        var writer = JSONWriter()
        dispatcher.answer(ready, from: caller, into: &writer)
        handle(.answered(.read(id: ready.request.id, answer: writer.bytes)))
    }

    /// Carries out a request whose bucket has come to this node meanwhile.
    private func carryOut(_ passage: Passage, since begin: Int64, _ eventLoop: any EventLoop) {
        let text = LongText(passage.text[...], isElement: true, isAdmitted: true)
        workers.parsing.submit(for: caller.share) { [self] in
            let found = dispatcher.examine(text, from: caller)
            eventLoop.execute { [self] in
                guard case .request(let request) = found else { return }
                handle(.answered(.arrived(request, begin: begin)))
            }
        }
    }

    /// Asks all nodes, and makes one answer of theirs.
    private func gather(
        _ request: Request, _ gathering: Gathering, over links: NodeLinks, since begin: Int64,
        _ eventLoop: any EventLoop
    ) {
        links.ask(gathering.request, by: caller) { [self] answers in
            guard context != nil else { return }
            let placement = links.placement
            workers.reads.submit(for: caller.share) { [self] in
                let answer = dispatcher.gathered(
                    answers, gathering, of: request, from: caller, placement, since: begin)
                eventLoop.execute { [self] in
                    if let answer {
                        return handle(.answered(.read(id: request.id, answer: answer)))
                    }
                    let pause = TimeAmount(Dispatcher.gatheringPause)
                    eventLoop.assumeIsolated().scheduleTask(in: pause) { [self] in
                        gather(request, gathering, over: links, since: begin, eventLoop)
                    }
                }
            }
        }
    }

    // MARK: Writes

    private func submit(
        _ request: Request, _ write: Write, _ key: RequestKey?, since begin: Int64
    ) {
        scheduler.begin(bytes: write.memoryBytes, of: self)
        let answers = scheduler.finishedAnswers
        dispatcher.service.submit(write, key: key, by: caller) { [self] result in
            let finished = FinishedWrite(
                request: request, write: write, result: result, begin: begin)
            answers.put(.write(finished), for: self)
        }
    }

    // MARK: Results of other threads

    /// Appends the answer from another thread's result to the output.
    func put(_ answer: FinishedAnswer, _ eventLoop: any EventLoop) {
        switch answer {
        case .write(let finished):
            connection.answer(finished.request.id, into: &scheduler.output) { writer in
                dispatcher.answer(finished, into: &writer)
            }
        case .mayRead(let request, let failure, let begin, _):
            let early = early.take()
            if failure == nil, let early, dispatcher.confirms(early) {
                return connection.answer(request.id, into: &scheduler.output) {
                    $0.raw(early.bytes)
                }
            }
            let admitted = failure.map { request.refused(RPCFailure($0)) } ?? request
            start(admitted, since: begin, eventLoop)
        case .arrived(let request, let begin): run(request, since: begin, eventLoop)
        case .read(let id, let answer):
            connection.answer(id, into: &scheduler.output) { $0.raw(answer) }
            // At once, not when the session wakes: a batch may stand behind the request.
            if caller.watches.open() { connection.receive(.notified) }
        case .told(let read): self.answer(read)
        case .notified: preconditionFailure("a notification is no answer")
        }
    }

    // MARK: Worker threads

    /// Parses a long text on a worker thread.
    func examine(_ text: LongText, _ eventLoop: any EventLoop) {
        workers.parsing.submit(for: caller.share) { [self] in
            let found = dispatcher.examine(text, from: caller)
            eventLoop.execute { [self] in
                take(found)
                work()
            }
        }
    }

    /// Runs a read on a worker thread.
    ///
    /// - Parameter prepared: nil makes the worker thread prepare the read too.
    private func offload(
        _ request: Request, _ prepared: ReadyRead?, since begin: Int64,
        _ eventLoop: any EventLoop
    ) {
        let waiting = WaitingRead(prepared, since: begin)
        self.waiting = waiting
        dispatcher.offload(request, waiting, from: caller, to: workers.reads) { [self] read in
            var writer = JSONWriter()
            dispatcher.answer(read, from: caller, until: waiting.stop, into: &writer)
            // A large request is freed here, on the worker thread: the loop gets only its id.
            let (id, answer) = (request.id, writer.bytes)
            eventLoop.execute { self.finishRead(id, answer, eventLoop) }
        }
    }

    private func finishRead(_ id: String?, _ answer: [UInt8], _ eventLoop: any EventLoop) {
        waiting = nil
        if !isWatchingExport, caller.export.isUnderWay { watchExport(eventLoop) }
        handle(.answered(.read(id: id, answer: answer)))
    }

    /// Checks after each idle period whether the export is still in use, as long as there is one.
    private func watchExport(_ eventLoop: any EventLoop) {
        isWatchingExport = true
        let idle = limits.exportIdleMilliseconds
        eventLoop.scheduleTask(in: .milliseconds(Int64(idle))) { [weak self] in
            guard let self else { return }
            isWatchingExport = false
            if context != nil, caller.export.expire(after: .milliseconds(idle)) {
                watchExport(eventLoop)
            }
        }
    }
}

extension RPCFailure {
    /// The refusal of a request that has notifications before its answer, where none can stand.
    fileprivate static var batchTooLong: RPCFailure {
        .invalidRequest("the answers before it in its batch are too long; send it alone")
    }
}
