import BackendContract
import JSONText
import NIOCore
import NIOTLS
import Objects
import Runtime
import ServiceDesk

/// Connects a channel to its `Connection`: passes events in and carries actions out.
///
/// `@unchecked Sendable`: every member is used on the channel's event loop only. Other threads get
/// a reference merely to pass it back to that loop.
final class ConnectionHandler: ChannelInboundHandler, RemovableChannelHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let desk: Desk
    let caller: Caller
    let scheduler: LoopScheduler
    /// What other threads have finished for the connections of the loop.
    let answers: FinishedAnswers
    var connection: Connection
    var context: ChannelHandlerContext?
    /// Actions are being carried out: `work`, called again meanwhile, leaves new ones to that loop.
    private var isAtWork = false
    private var client = ForeignClient()
    /// What takes its time for the request that is under way.
    var underWay: (any WorkUnderWay)?
    /// The answer to the read that waits in the gate, if there is one already.
    var early: EarlyAnswer?
    /// What serves the connection instead, because it is one of another node.
    private var nodeHandler: NodeServerHandler?
    var isWatchingExport = false
    /// Called once, when the client has asked for something, and has logged in where that is required.
    var onArrival: (@Sendable () -> Void)?
    var isUnsent = false
    var isIdle = false

    /// - Parameter isSecured: whether no TLS handshake has to precede the first line.
    init(
        desk: Desk, scheduler: LoopScheduler, caller: Caller, isSecured: Bool
    ) {
        self.desk = desk
        self.scheduler = scheduler
        self.caller = caller
        answers = scheduler.finishedAnswers
        connection = Connection(
            limits: desk.service.limits, isSecured: isSecured,
            now: desk.service.clock.nanoseconds())
    }

    var limits: Limits { desk.service.limits }

    // MARK: Events of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        scheduler.rounds.add(self)
        // Strong until the watches are closed: an object with weak references is slower to retain.
        caller.watches.onWake { [self] in answers.put(.notified, for: self) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        scheduler.rounds.remove(self)
        caller.watches.close()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        handle(.activated)
    }

    func channelInactive(context: ChannelHandlerContext) {
        connection.receive(.ended)
        early = nil
        underWay?.end()
        scheduler.links?.forget(caller)
        caller.export.close()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        wake()
        unwrapInboundIn(data).withUnsafeReadableBytes { bytes in
            client.hear(bytes)
            connection.receive(.received(bytes))
        }
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
        desk.logger.debug("a connection ended", metadata: ["reason": "\(error)"])
        context.close(promise: nil)
    }

    // MARK: Other events

    func handle(_ event: Connection.Event) {
        wake()
        connection.receive(event)
        work()
    }

    /// Is checked in every round again, if it was idle.
    private func wake() { if isIdle { scheduler.rounds.wake(self) } }

    /// Stops reading, answers the requests read so far, and closes.
    func drain() {
        if let nodeHandler { nodeHandler.drain() } else { handle(.drained) }
    }

    /// Leaves the connection, on which nothing has been read yet, to another handler.
    func yield(to nodeHandler: NodeServerHandler) {
        self.nodeHandler = nodeHandler
        onArrival?()
        onArrival = nil
        connection.receive(.ended)
    }

    private func noteArrival() {
        guard let onArrival, hasArrived else { return }
        onArrival()
        self.onArrival = nil
    }

    private var hasArrived: Bool {
        connection.hasAsked && desk.service.isWelcome(caller)
    }

    /// Leaves its place to a new connection, unless the client has asked for something meanwhile.
    func giveWay() { if nodeHandler == nil, !hasArrived { context?.close(promise: nil) } }

    // MARK: Actions

    /// Does everything that can be done now.
    func work() {
        guard !isAtWork else { return }
        isAtWork = true
        var now = desk.service.clock.nanoseconds()
        while let context,
            let action = connection.next(
                now: now, outputBytes: scheduler.output.count,
                takesWrites: scheduler.takesWrites(of: self))
        {
            carryOut(action, now, context)
            if action.takesTime { now = desk.service.clock.nanoseconds() }
        }
        isAtWork = false
    }

    private func carryOut(
        _ action: Connection.Action, _ now: Int64, _ context: ChannelHandlerContext
    ) {
        switch action {
        case .parse: take(parse())
        case .parseOnWorker(let text): parse(text, context.eventLoop)
        case .run(let request): desk.carryOut(request, for: self, since: now)
        case .answer(let answer): put(answer)
        case .notify: notify()
        case .hold: scheduler.hold(self, since: now)
        case .flush: flush(now, context)
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

    private func parse() -> ParsedText {
        connection.parse(
            line: { desk.parse(line: $0, scheduler.parser, from: caller) },
            element: { desk.parse(element: $0, scheduler.parser, from: caller) })
    }

    /// Takes the result of parsing a text.
    func take(_ found: ParsedText) {
        wake()
        guard let refusal = client.refusal(of: found) else {
            return connection.receive(.found(found))
        }
        connection.receive(.foreign)
        connection.receive(.found(refusal))
    }

    private func notify() {
        guard caller.watches.next(into: &scheduler.output) else { return }
        scheduler.output.byte(UInt8(ascii: "\n"))
        connection.receive(.notified)
    }

    /// Writes the answers to the channel; the scheduler decides when they are flushed.
    private func flush(_ now: Int64, _ context: ChannelHandlerContext) {
        noteArrival()
        let isLong = scheduler.output.count > Self.longOutput
        var buffer = context.channel.allocator.buffer(capacity: scheduler.output.count)
        scheduler.output.withBytes { _ = buffer.writeBytes(UnsafeRawBufferPointer($0)) }
        scheduler.output.removeAll(keeping: Self.keptOutput)
        context.write(wrapOutboundOut(buffer), promise: nil)
        scheduler.send(self, inTurn: isLong, now: now)
    }

    /// Nanoseconds after which an early answer is dropped whose look is not back.
    private static let earlyLife: Int64 = 100_000_000

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
}

/// What the scheduler calls on a connection.
extension ConnectionHandler: ScheduledConnection {
    var bufferedBytes: Int {
        connection.bufferedBytes + caller.watches.waitingBytes + (early?.bytes.count ?? 0)
    }

    func readEarly(_ request: ServiceRequest, since begin: Int64) {
        guard context != nil else { return }
        early = desk.answerEarly(request, from: caller, since: begin)
    }

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
        wake()
        if case .write(let finished) = finished { scheduler.end(finished.write) }
        connection.receive(.answered(finished))
    }

    func goOn() { work() }

    func check(now: Int64) -> Bool {
        guard let context else { return false }
        var check = Connection.Check(now: now)
        if connection.mayHaveUnsent {
            let option = ChannelOptions.Types.BufferedWritableBytesOption()
            check.unsentBytes = (try? context.channel.syncOptions?.getOption(option)) ?? 0
        }
        check.isWatching = !caller.watches.isEmpty
        if check.isWatching { desk.service.reviewWatches(of: caller) }
        check.isWelcome = desk.service.isWelcome(caller)
        noteArrival()
        underWay?.letGo(now: now, limits)
        // It keeps the state that it saw in memory.
        if let early, now - early.read.begin > Self.earlyLife { self.early = nil }
        connection.receive(.checked(check))
        work()
        return connection.isIdle && !check.isWatching && underWay == nil && early == nil
    }

    func evict() {
        // An early answer can be made again.
        guard early == nil else {
            early = nil
            return
        }
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
}
