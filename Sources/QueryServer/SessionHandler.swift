import Backend
import JSONText
import Logging
import NIOCore
import NIOSSL
import NIOTLS
import Objects
import Operations
import WireProtocol

/// One connection: bytes to lines to requests, and their answers back.
///
/// Reading is on demand: no more is read while requests wait, while too many are unanswered, or
/// while the client does not read its answers, so a connection's memory is bounded.
///
/// `@unchecked Sendable`: every member is touched on the channel's event loop only; other threads
/// get a reference merely to hand it back to that loop.
final class SessionHandler: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let dispatcher: Dispatcher
    let limits: Limits
    let workers: Workers
    private let desk: LoopDesk
    var conversation: Conversation
    private var finishedWrites: [FinishedWrite] = []
    private var finishedRead: (id: String?, answer: [UInt8])?
    /// Tells the read that runs on a worker thread that nobody wants its answer any more.
    var stop: StopSignal?
    let caller: Caller
    var context: ChannelHandlerContext?
    var isWatchingExport = false
    private var isReading = false
    /// No more is taken in: the client has ended its side, or the service is stopping.
    private var inputEnded = false
    private var clientHasEnded = false
    private var isClosing = false
    private var isRunning = false
    /// Much is to be done, for which its turn has to come.
    private var isQueued = false
    /// It took more than a turn when it last had something to do.
    private var isBusy = false
    private var hasReceived = false
    private var isActive = false
    var patience = Patience(now: monotonicNanoseconds())
    /// TLS is agreed on, and who has to log in has.
    var hasArrived = false
    var isSecured: Bool
    /// Answers that had not been sent when it was last looked.
    var unsentBytes = 0
    var mayHaveUnsent = false
    /// It is being closed for what it holds.
    var isShed = false
    /// Waits at the desk for room for a write.
    private var isHeld = false
    /// Waits at the desk for its answers to be sent.
    var isUnsent = false

    /// - Parameter isSecured: whether nothing has to be agreed on before the first line.
    init(
        dispatcher: Dispatcher, limits: Limits, workers: Workers, desk: LoopDesk,
        caller: Caller, isSecured: Bool
    ) {
        self.dispatcher = dispatcher
        self.limits = limits
        self.workers = workers
        self.desk = desk
        self.caller = caller
        self.isSecured = isSecured
        conversation = Conversation(limits: limits)
    }

    // MARK: Events of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        desk.add(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        desk.remove(self)
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        isActive = false
        stop?.stop()
        caller.export.close()
        context.fireChannelInactive()
    }

    func channelActive(context: ChannelHandlerContext) {
        isActive = true
        context.fireChannelActive()
        run()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isClosing { return }  // too late; it is read so that closing does not cut the answers
        let bytes = unwrapInboundIn(data)
        if !hasReceived {
            hasReceived = true
            if TLSRecord.beginsHandshake(bytes) { return refuseTLS(context) }
        }
        bytes.withUnsafeReadableBytes { conversation.append($0) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        context.fireChannelReadComplete()
        isClosing ? context.read() : run()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        context.fireChannelWritabilityChanged()
        run()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            clientHasEnded = true
            isClosing ? context.close(promise: nil) : endInput()
        } else {
            if case TLSUserEvent.handshakeCompleted = event { isSecured = true }
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Lines say themselves where they end: it does not matter how TLS does.
        if let error = error as? NIOSSLError, error == .uncleanShutdown { return }
        dispatcher.logger.debug("a connection ended", metadata: ["reason": "\(error)"])
        context.close(promise: nil)
    }

    /// Reads no more, answers what was read, closes.
    func endInput() {
        inputEnded = true
        run()
    }

    /// Takes the answer to a write; `run` has to follow.
    func receive(_ finished: FinishedWrite) {
        desk.end(finished.write)
        finishedWrites.append(finished)
    }

    private func refuseTLS(_ context: ChannelHandlerContext) {
        end(context, context.channel.allocator.buffer(bytes: TLSRecord.refusal))
    }

    // MARK: Work

    /// Does all that can be done now: requests, then answers out, then perhaps more input.
    func run() {
        guard !isRunning, !isQueued else { return }
        if isBusy || conversation.heldBytes > Self.longInput { queue() } else { work() }
    }

    /// Bytes that are not taken in but in turn.
    private static let longInput = 128 * 1_024

    private func queue() {
        isQueued = true
        desk.queue(self)
    }

    /// Goes on with what was put off.
    func takeTurn() {
        isQueued = false
        work()
    }

    /// Sends what has been put into the output.
    func sendOutput() {
        isUnsent = false
        context?.flush()
    }

    private func work() {
        isRunning = true
        let begin = monotonicNanoseconds()
        if let context { work(context, since: begin) }
        isBusy = monotonicNanoseconds() - begin > Self.turn
        isRunning = false
    }

    /// Runs again after it has been held at the desk.
    func resume() {
        isHeld = false
        run()
    }

    /// Works for this long without letting others have their turn; nanoseconds. Many may have
    /// something to do in one round of the event loop, so it is little.
    private static let turn: Int64 = 250_000

    private func work(_ context: ChannelHandlerContext, since begin: Int64) {
        let channel = context.channel
        takeFinished()
        var hasMore = true
        while hasMore, channel.isWritable {
            hasMore = step(context)
            if desk.output.count > limits.outputBytes / 2 { flush(context) }
            if hasMore, monotonicNanoseconds() - begin > Self.turn {
                flush(context)
                return queue()
            }
        }
        flush(context)
        if hasMore {
            return  // until the client reads its answers
        } else if inputEnded {
            closeIfDone(context)
        } else if !isReading, conversation.takesLines, channel.isWritable, isActive {
            isReading = true
            context.read()
        }
    }

    /// Puts the answers that came from other threads into the output.
    private func takeFinished() {
        if let (id, answer) = finishedRead {
            finishedRead = nil
            conversation.answer(id, into: &desk.output) { writer in
                writer.raw(answer)
                return true
            }
        }
        for finished in finishedWrites {
            conversation.answer(finished.request.id, into: &desk.output) { writer in
                dispatcher.answer(finished, into: &writer)
                return true
            }
        }
        finishedWrites.removeAll()
    }

    /// Begins one request; false when there is none that can be begun.
    private func step(_ context: ChannelHandlerContext) -> Bool {
        switch conversation.next(
            desk.parser, takesWrites: desk.takesWrites,
            refusal: { dispatcher.refusal(of: $0, from: caller) })
        {
        case .read(let request):
            let begin = monotonicNanoseconds()
            let isAnswered =
                !request.isLarge
                && conversation.answer(request.id, into: &desk.output) { writer in
                    dispatcher.answer(
                        request, from: caller, since: begin, effort: .light, into: &writer)
                }
            if !isAnswered { offload(request, since: begin, context) }
            return true
        case .examine(let text):
            examine(text, context)
            return true
        case .write(let request, let write, let key):
            let begin = monotonicNanoseconds()
            desk.begin(write)
            let answers = desk.writeAnswers
            dispatcher.service.submit(write, key: key, by: caller) { [self] result in
                let finished = FinishedWrite(
                    request: request, write: write, result: result, begin: begin)
                answers.put(.init(session: self, answer: finished))
            }
            return true
        case .wait:
            if !desk.takesWrites, !isHeld {
                isHeld = true
                desk.hold(self)
            }
            return false
        }
    }

    /// Takes the answer to a costly read.
    func finish(_ id: String?, _ answer: [UInt8]) {
        stop = nil
        if !isWatchingExport, caller.export.isUnderWay, let context {
            watchExport(context.eventLoop)
        }
        finishedRead = (id, answer)
        run()
    }

    /// Takes what a long text was found to be.
    func take(_ contents: LongText.Contents) {
        conversation.take(contents)
        run()
    }

    /// Hands the answers to the channel, which sends them when the desk says so.
    private func flush(_ context: ChannelHandlerContext) {
        guard desk.output.count > 0 else { return }
        let isLong = desk.output.count > Self.longOutput
        var buffer = context.channel.allocator.buffer(capacity: desk.output.count)
        desk.output.withBytes { _ = buffer.writeBytes(UnsafeRawBufferPointer($0)) }
        desk.output.removeAll(keeping: Self.keptOutput)
        context.write(wrapOutboundOut(buffer), promise: nil)
        mayHaveUnsent = true
        desk.send(self, inTurn: isLong)
    }

    /// Bytes of answers that are not sent but in turn: the kernel copies a megabyte in half a
    /// millisecond.
    private static let longOutput = 128 * 1_024

    /// Bytes of the buffer for answers that are kept when it is empty.
    private static let keptOutput = 1 << 20

    // MARK: The end

    func end(_ context: ChannelHandlerContext, _ failure: RPCFailure) {
        guard conversation.isDone, unsentBytes == 0 else { return context.close(promise: nil) }
        AnswerWriter.failure(failure, id: nil, to: &desk.output)
        desk.output.byte(UInt8(ascii: "\n"))
        flush(context)
        end(context, ByteBuffer())
    }

    /// Says a last thing and closes.
    func end(_ context: ChannelHandlerContext, _ last: ByteBuffer) {
        (inputEnded, isClosing) = (true, true)
        conversation = Conversation(limits: limits)
        context.writeAndFlush(wrapOutboundOut(last)).assumeIsolated().whenComplete { _ in
            self.close(context)
        }
    }

    private func closeIfDone(_ context: ChannelHandlerContext) {
        guard !isClosing, conversation.isDone else { return }
        end(context, ByteBuffer())  // behind what has been written: the client gets all its answers
    }

    /// Closes; towards a client that may still be sending, its side first: to close on unread bytes
    /// would take the answers on their way with it.
    private func close(_ context: ChannelHandlerContext) {
        guard !clientHasEnded else { return context.close(promise: nil) }
        context.close(mode: .output, promise: nil)
        context.read()
        let channel = context.channel
        context.eventLoop.scheduleTask(in: Self.linger) { channel.close(promise: nil) }
    }

    /// How long a stopping service waits for a client to close after its last answer.
    private static let linger = TimeAmount.milliseconds(500)
}
