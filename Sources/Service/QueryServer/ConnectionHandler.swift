import Backend
import JSONText
import NIOCore
import NIOTLS
import Objects
import Operations
import Runtime
import WireProtocol

/// Connects a channel to its `Connection`: passes events in and carries actions out.
///
/// `@unchecked Sendable`: every member is used on the channel's event loop only. Other threads get
/// a reference merely to pass it back to that loop.
final class ConnectionHandler: ChannelInboundHandler, RemovableChannelHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let dispatcher: Dispatcher
    let workers: Workers
    let caller: Caller
    private let scheduler: LoopScheduler
    private var connection: Connection
    private var context: ChannelHandlerContext?
    /// Actions are being carried out: `work`, called again meanwhile, leaves new ones to that loop.
    private var isAtWork = false
    /// The read that waits for a worker thread or runs on one.
    private var waiting: WaitingRead?
    /// The way of the request that is passed on.
    private var errand: Errand?
    /// What serves the connection instead, because it is one of another node.
    private var nodeHandler: NodeServerHandler?
    private var isWatchingExport = false
    var isUnsent = false

    /// - Parameter isSecured: whether no TLS handshake has to precede the first line.
    init(
        dispatcher: Dispatcher, workers: Workers, scheduler: LoopScheduler, caller: Caller,
        isSecured: Bool
    ) {
        self.dispatcher = dispatcher
        self.workers = workers
        self.scheduler = scheduler
        self.caller = caller
        connection = Connection(
            limits: dispatcher.service.limits, isSecured: isSecured, now: monotonicNanoseconds())
        let answers = scheduler.finishedAnswers
        caller.watches.onWake { [weak self] in
            if let self { answers.put(.notified, for: self) }
        }
    }

    private var limits: Limits { dispatcher.service.limits }

    // MARK: Events of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        scheduler.add(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        scheduler.remove(self)
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        handle(.activated)
    }

    func channelInactive(context: ChannelHandlerContext) {
        connection.receive(.ended)
        waiting?.end()
        errand?.cancel()
        scheduler.links?.forget(caller)
        caller.export.close()
        caller.watches.close()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unwrapInboundIn(data).withUnsafeReadableBytes { connection.receive(.received($0)) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        handle(.readCompleted)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        context.fireChannelWritabilityChanged()
        handle(.writability(context.channel.isWritable))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { return handle(.inputClosed) }
        if case TLSUserEvent.handshakeCompleted = event { handle(.secured) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Each line marks its own end, so it does not matter how TLS ends.
        if TLSContext.isUncleanEnd(error) { return }
        dispatcher.logger.debug("a connection ended", metadata: ["reason": "\(error)"])
        context.close(promise: nil)
    }

    // MARK: Other events

    func handle(_ event: Connection.Event) {
        connection.receive(event)
        work()
    }

    /// Stops reading, answers the requests read so far, and closes.
    func drain() {
        if let nodeHandler { nodeHandler.drain() } else { handle(.drained) }
    }

    /// Leaves the connection, on which nothing has been read yet, to another handler.
    func yield(to nodeHandler: NodeServerHandler) {
        self.nodeHandler = nodeHandler
        connection.receive(.ended)
    }

    // MARK: Actions

    /// Does everything that can be done now.
    private func work() {
        guard !isAtWork else { return }
        isAtWork = true
        while let context, let (action, now) = next() { carryOut(action, now, context) }
        isAtWork = false
    }

    private func next() -> (Connection.Action, now: Int64)? {
        let now = monotonicNanoseconds()
        let action = connection.next(
            now: now, outputBytes: scheduler.output.count, takesWrites: scheduler.takesWrites)
        return action.map { ($0, now) }
    }

    private func carryOut(
        _ action: Connection.Action, _ now: Int64, _ context: ChannelHandlerContext
    ) {
        switch action {
        case .look: connection.receive(.found(look()))
        case .examine(let text): examine(text, context.eventLoop)
        case .run(let request): run(request, since: now, context.eventLoop)
        case .submit(let request): submit(request, since: now)
        case .answer(let answer): put(answer, context.eventLoop)
        case .notify: notify()
        case .hold: scheduler.hold(self, since: now)
        case .flush: flush(context)
        case .awaitTurn: scheduler.queue(self)
        case .awaitRoom: scheduler.pause(self)
        case .read: context.read()
        case .finish(let words): finish(words, context)
        case .endOutput: context.close(mode: .output, promise: nil)
        case .close:
            caller.watches.close()
            context.close(promise: nil)
        }
    }

    private func look() -> ParsedText {
        connection.look(
            line: { dispatcher.look(atLine: $0, scheduler.parser, from: caller) },
            element: { dispatcher.look(atElement: $0, scheduler.parser, from: caller) })
    }

    /// Begins a read, as soon as it may.
    private func run(_ request: Request, since begin: Int64, _ eventLoop: any EventLoop) {
        if let links = scheduler.links {
            if let passage = request.passage {
                return passOn(request, passage, over: links, since: begin, eventLoop)
            }
            if let gathering = request.gathering {
                return gather(request, gathering, over: links, since: begin, eventLoop)
            }
        }
        guard let (read, atLeast) = request.read,
            !dispatcher.service.mayReadAtOnce(read, atLeast: atLeast),
            atLeast != nil || !connection.mayReadAtOnce
        else { return self.begin(request, since: begin, eventLoop) }
        scheduler.gate.hold(
            ReadGate.Arrival(
                user: self, request: request, begin: begin, bytes: connection.receivedBytes),
            atLeast: atLeast)
    }

    private func begin(_ request: Request, since begin: Int64, _ eventLoop: any EventLoop) {
        if request.isLarge { return offload(request, nil, since: begin, eventLoop) }
        let read = dispatcher.prepare(request, from: caller, since: begin)
        if read.preparation.isCostly { return offload(request, read, since: begin, eventLoop) }
        if case .waiting(let wait) = read.preparation {
            return answer(request, after: wait, since: begin)
        }
        connection.answer(request.id, into: &scheduler.output) { writer in
            dispatcher.answer(read, from: caller, into: &writer)
        }
    }

    /// Answers a read when everything has been told that it waits for.
    private func answer(
        _ request: Request, after wait: Preparation.Wait, since begin: Int64
    ) {
        let answers = scheduler.finishedAnswers
        guard connection.isBetweenLines else {
            let refused = ReadyRead(request: request.refused(.batchTooLong), begin: begin)
            return connection.answer(request.id, into: &scheduler.output) { writer in
                dispatcher.answer(refused, from: caller, into: &writer)
            }
        }
        wait { [self] result in
            let read = ReadyRead(request: request, begin: begin, preparation: .told(result))
            answers.put(.told(read), for: self)
        }
    }

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

    /// The time after which a list is gathered again, of which a part is missing.
    private static let gatheringPause = TimeAmount.milliseconds(100)

    /// Asks all nodes, and makes one answer of theirs.
    private func gather(
        _ request: Request, _ gathering: Gathering, over links: NodeLinks, since begin: Int64,
        _ eventLoop: any EventLoop
    ) {
        links.ask(gathering.request, by: caller) { [self] answers in
            guard context != nil else { return }
            let end = begin + Int64(limits.queryMilliseconds) * 1_000_000
            workers.reads.submit(for: caller.share) { [self] in
                let isWhole = gathering.isWhole(answers, for: caller, links.placement)
                guard isWhole || monotonicNanoseconds() > end else {
                    return eventLoop.execute { [self] in
                        gatherAgain(request, gathering, over: links, since: begin, eventLoop)
                    }
                }
                var writer = JSONWriter()
                dispatcher.answer(
                    request, gathering, of: answers, isWhole: isWhole, since: begin, into: &writer)
                let answer = writer.bytes
                eventLoop.execute { self.handle(.answered(.read(id: request.id, answer: answer))) }
            }
        }
    }

    private func gatherAgain(
        _ request: Request, _ gathering: Gathering, over links: NodeLinks, since begin: Int64,
        _ eventLoop: any EventLoop
    ) {
        eventLoop.assumeIsolated().scheduleTask(in: Self.gatheringPause) { [self] in
            gather(request, gathering, over: links, since: begin, eventLoop)
        }
    }

    private func submit(_ request: Request, since begin: Int64) {
        guard let (write, key) = request.write else { return }
        scheduler.begin(write)
        let answers = scheduler.finishedAnswers
        dispatcher.service.submit(write, key: key, by: caller) { [self] result in
            let finished = FinishedWrite(
                request: request, write: write, result: result, begin: begin)
            answers.put(.write(finished), for: self)
        }
    }

    /// Appends the answer from another thread's result to the output.
    private func put(_ answer: FinishedAnswer, _ eventLoop: any EventLoop) {
        switch answer {
        case .write(let finished):
            connection.answer(finished.request.id, into: &scheduler.output) { writer in
                dispatcher.answer(finished, into: &writer)
            }
        case .mayRead(let request, let failure, let begin, _):
            let admitted = failure.map { request.refused(RPCFailure($0)) } ?? request
            self.begin(admitted, since: begin, eventLoop)
        case .arrived(let request, let begin):
            if request.isWrite {
                submit(request, since: begin)
            } else {
                run(request, since: begin, eventLoop)
            }
        case .read(let id, let answer):
            connection.answer(id, into: &scheduler.output) { $0.raw(answer) }
            // At once, not when the session wakes: a batch may stand behind the request.
            if caller.watches.open() { connection.receive(.notified) }
        case .told(let read):
            connection.answer(read.request.id, into: &scheduler.output) { writer in
                dispatcher.answer(read, from: caller, into: &writer)
            }
        case .notified: preconditionFailure("a notification is no answer")
        }
    }

    private func notify() {
        guard caller.watches.next(into: &scheduler.output) else { return }
        scheduler.output.byte(UInt8(ascii: "\n"))
        connection.receive(.notified)
    }

    /// Writes the answers to the channel; the scheduler decides when they are flushed.
    private func flush(_ context: ChannelHandlerContext) {
        let isLong = scheduler.output.count > Self.longOutput
        var buffer = context.channel.allocator.buffer(capacity: scheduler.output.count)
        scheduler.output.withBytes { _ = buffer.writeBytes(UnsafeRawBufferPointer($0)) }
        scheduler.output.removeAll(keeping: Self.keptOutput)
        context.write(wrapOutboundOut(buffer), promise: nil)
        scheduler.send(self, inTurn: isLong)
    }

    /// Output of more bytes than this is sent in turns: the kernel copies a megabyte in half a
    /// millisecond.
    private static let longOutput = 128 * 1_024

    /// Capacity in bytes that the output buffer keeps when it is empty.
    private static let keptOutput = 1 << 20

    private func finish(_ words: Connection.FinalMessage, _ context: ChannelHandlerContext) {
        caller.watches.close()
        let last = context.channel.allocator.buffer(bytes: bytes(of: words))
        context.writeAndFlush(wrapOutboundOut(last)).assumeIsolated().whenComplete { _ in
            self.handle(.sent)
        }
    }

    private func bytes(of words: Connection.FinalMessage) -> [UInt8] {
        switch words {
        case .nothing: []
        case .refusalOfTLS: TLSRecord.refusal
        case .lineTooSlow: Self.line(.lineTooSlow(limit: limits.lineMilliseconds))
        case .memoryExceeded: Self.line(.memoryExceeded)
        }
    }

    private static func line(_ failure: RPCFailure) -> [UInt8] {
        var writer = JSONWriter()
        AnswerWriter.failure(failure, id: nil, to: &writer)
        writer.byte(UInt8(ascii: "\n"))
        return writer.bytes
    }

    // MARK: Worker threads

    /// Parses a long text on a worker thread.
    private func examine(_ text: LongText, _ eventLoop: any EventLoop) {
        workers.parsing.submit(for: caller.share) { [self] in
            let found = dispatcher.examine(text, from: caller)
            eventLoop.execute { self.handle(.found(found)) }
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
        workers.reads.submit(for: caller.share) { [self] in
            let read =
                dispatcher.refused(request, waiting) ?? waiting.take()
                ?? dispatcher.prepare(request, from: caller, since: begin)
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

/// What the scheduler calls on a connection.
extension ConnectionHandler: ScheduledConnection {
    var bufferedBytes: Int { connection.bufferedBytes + caller.watches.waitingBytes }

    func takeTurn() { handle(.turn) }

    func takeRoom() { handle(.room) }

    var heldSince: Int64? { connection.heldSince }

    func takeNotifications() { handle(.overdue) }

    func sendOutput() {
        isUnsent = false
        context?.flush()
    }

    /// The answer is appended to the output when the connection works next.
    func take(_ finished: FinishedAnswer) {
        if case .write(let finished) = finished { scheduler.end(finished.write) }
        connection.receive(.answered(finished))
    }

    func goOn() { work() }

    func look(now: Int64) {
        guard let context else { return }
        var look = Connection.Look(now: now)
        if connection.mayHaveUnsent {
            let option = ChannelOptions.Types.BufferedWritableBytesOption()
            look.unsentBytes = (try? context.channel.syncOptions?.getOption(option)) ?? 0
        }
        dispatcher.service.reviewWatches(of: caller)
        look.isWatching = !caller.watches.isEmpty
        look.isWelcome = !dispatcher.service.requiresLogin || caller.isLoggedIn
        if let waiting, (now - waiting.begin) / 1_000_000 > limits.queueMilliseconds {
            _ = waiting.take()
        }
        handle(.looked(look))
    }

    func evict() {
        caller.watches.close()
        handle(.evict)
    }
}

extension RPCFailure {
    fileprivate static var memoryExceeded: RPCFailure {
        RPCFailure(
            ServiceFailure(
                .tooManyRequests, "the service holds too much for all its connections"))
    }

    /// The refusal of a request that has notifications before its answer, where none can stand.
    fileprivate static var batchTooLong: RPCFailure {
        .invalidRequest("the answers before it in its batch are too long; send it alone")
    }
}
