import Backend
import JSONText
import Logging
import NIOCore
import NIOPosix
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

    private let dispatcher: Dispatcher
    private let limits: Limits
    private let workers: NIOThreadPool
    private let desk: LoopDesk
    private var conversation: Conversation
    private var finishedWrites: [FinishedWrite] = []
    /// Tells the read that runs on a worker thread that nobody wants its answer any more.
    private var stop: StopSignal?
    private let export = ExportSession()
    private var context: ChannelHandlerContext?
    private var isWatchingExport = false
    private var isReading = false
    /// No more is taken in: the client has ended its side, or the service is stopping.
    private var inputEnded = false
    private var clientHasEnded = false
    private var isClosing = false
    private var isRunning = false

    init(dispatcher: Dispatcher, limits: Limits, workers: NIOThreadPool, desk: LoopDesk) {
        self.dispatcher = dispatcher
        self.limits = limits
        self.workers = workers
        self.desk = desk
        conversation = Conversation(limits: limits)
    }

    // MARK: Events of the channel

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelInactive(context: ChannelHandlerContext) {
        stop?.stop()
        context.fireChannelInactive()
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        run()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReading = false
        if isClosing { return }  // too late; it is read so that closing does not cut the answers
        unwrapInboundIn(data).withUnsafeReadableBytes { conversation.append($0) }
        run()
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
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        dispatcher.logger.debug("a connection ended", metadata: ["reason": "\(error)"])
        context.close(promise: nil)
    }

    /// Reads no more, answers what was read, closes.
    func endInput() {
        inputEnded = true
        run()
    }

    /// Takes the answer to a write; `run` has to follow.
    func receive(_ finished: FinishedWrite) { finishedWrites.append(finished) }

    // MARK: Work

    /// Does all that can be done now: requests, then answers out, then perhaps more input.
    func run() {
        guard !isRunning, let context else { return }
        isRunning = true
        defer { isRunning = false }
        let channel = context.channel
        for finished in finishedWrites {
            conversation.answer(finished.request, into: &desk.output) { writer in
                dispatcher.answer(finished, into: &writer)
                return true
            }
        }
        finishedWrites.removeAll()
        var hasMore = true
        while hasMore, channel.isWritable {
            hasMore = step(context)
            if desk.output.count > limits.outputBytes / 2 { flush(context) }
        }
        flush(context)
        if hasMore {
            return  // until the client reads its answers
        } else if inputEnded {
            closeIfDone(context)
        } else if !isReading, conversation.takesLines, channel.isWritable, channel.isActive {
            isReading = true
            context.read()
        }
    }

    /// Begins one request; false when there is none that can be begun.
    private func step(_ context: ChannelHandlerContext) -> Bool {
        switch conversation.next(desk.parser) {
        case .read(let request):
            let isAnswered = conversation.answer(request, into: &desk.output) { writer in
                dispatcher.answer(request, export: export, effort: .light, into: &writer)
            }
            if !isAnswered { offload(request, context) }
            return true
        case .write(let request, let write):
            let answers = desk.writeAnswers
            dispatcher.service.submit(write) { [self] result in
                let finished = FinishedWrite(request: request, write: write, result: result)
                answers.put(.init(session: self, answer: finished))
            }
            return true
        case .wait: return false
        }
    }

    /// Runs a read on a worker thread.
    private func offload(_ request: Request, _ context: ChannelHandlerContext) {
        let eventLoop = context.eventLoop
        let stop = StopSignal()
        self.stop = stop
        workers.submit { [self] _ in
            var writer = JSONWriter()
            _ = dispatcher.answer(request, export: export, effort: .until(stop), into: &writer)
            let answer = writer.bytes
            eventLoop.execute { self.finish(request, answer) }
        }
        if case .success(.export) = request.call, !isWatchingExport {
            isWatchingExport = true
            watchExport(eventLoop)
        }
    }

    private func finish(_ request: Request, _ answer: [UInt8]) {
        stop = nil
        guard context != nil else { return }
        conversation.answer(request, into: &desk.output) { writer in
            writer.raw(answer)
            return true
        }
        run()
    }

    /// Looks after every idle time whether the export is still used, as long as there is one.
    private func watchExport(_ eventLoop: any EventLoop) {
        let idle = limits.exportIdleMilliseconds
        eventLoop.scheduleTask(in: .milliseconds(Int64(idle))) { [self] in
            if context != nil, export.expire(after: .milliseconds(idle)) {
                watchExport(eventLoop)
            } else {
                isWatchingExport = false
            }
        }
    }

    private func flush(_ context: ChannelHandlerContext) {
        guard desk.output.count > 0 else { return }
        var buffer = context.channel.allocator.buffer(capacity: desk.output.count)
        desk.output.withBytes { _ = buffer.writeBytes(UnsafeRawBufferPointer($0)) }
        desk.output.removeAll(keeping: Self.keptOutput)
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }

    /// Bytes of the buffer for answers that are kept when it is empty.
    private static let keptOutput = 1 << 20

    private func closeIfDone(_ context: ChannelHandlerContext) {
        guard !isClosing, conversation.isDone else { return }
        isClosing = true
        // Behind what has been written: the client gets all its answers.
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
            self.close(context)
        }
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
