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
    private var framer: LineFramer
    private var conversation = Conversation()
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
        framer = LineFramer(limit: limits.lineBytes)
    }

    // MARK: Events of the channel

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        run()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReading = false
        if isClosing { return }  // too late; it is read so that closing does not cut the answers
        unwrapInboundIn(data).withUnsafeReadableBytes { framer.append($0) }
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

    // MARK: Work

    /// Does all that can be done now: requests, then answers out, then perhaps more input.
    private func run() {
        guard !isRunning, let context else { return }
        isRunning = true
        defer { isRunning = false }
        var hasMore = true
        while hasMore, context.channel.isWritable {
            hasMore = step(context)
            if conversation.output.count > limits.outputBytes / 2 { flush(context) }
        }
        flush(context)
        if hasMore {
            return  // until the client reads its answers
        } else if inputEnded {
            closeIfDone(context)
        } else if wantsInput(context) {
            isReading = true
            context.read()
        }
    }

    /// Begins one request, or takes one line in; false when there is nothing to do.
    private func step(_ context: ChannelHandlerContext) -> Bool {
        switch conversation.next() {
        case .read(let request, let ticket):
            desk.scratch.removeAll()
            if dispatcher.answer(request, export: export, effort: .light, into: &desk.scratch) {
                conversation.answered(ticket, request, desk.scratch.bytes)
            } else {
                offload(request, ticket, context)
            }
            return true
        case .write(let request, let write, let ticket):
            submit(write, request, ticket, context)
            return true
        case .wait:
            return takesLines && takeLine()
        }
    }

    private func takeLine() -> Bool {
        switch framer.next() {
        case .line(let range):
            let message = framer.buffer.withUnsafeBufferPointer {
                desk.parser.parse(UnsafeBufferPointer(rebasing: $0[range]))
            }
            conversation.receive(message, bytes: range.count)
            return true
        case .tooLong:
            conversation.receive(.lineTooLong(limit: limits.lineBytes), bytes: 0)
            return true
        case nil: return false
        }
    }

    private func submit(
        _ write: Write, _ request: Request, _ ticket: Conversation.Ticket,
        _ context: ChannelHandlerContext
    ) {
        let eventLoop = context.eventLoop
        dispatcher.service.submit(write) { [self] result in
            let answer = dispatcher.answer(request, result)
            eventLoop.execute { self.finish(ticket, request, answer) }
        }
    }

    /// Runs a read on a worker thread.
    private func offload(
        _ request: Request, _ ticket: Conversation.Ticket, _ context: ChannelHandlerContext
    ) {
        let eventLoop = context.eventLoop
        workers.submit { [self] _ in
            var writer = JSONWriter()
            _ = dispatcher.answer(request, export: export, effort: .any, into: &writer)
            let answer = writer.bytes
            eventLoop.execute { self.finish(ticket, request, answer) }
        }
        if case .success(.export) = request.call, !isWatchingExport {
            isWatchingExport = true
            watchExport(eventLoop)
        }
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

    private func finish(_ ticket: Conversation.Ticket, _ request: Request, _ answer: [UInt8]) {
        conversation.answered(ticket, request, answer)
        run()
    }

    private func flush(_ context: ChannelHandlerContext) {
        guard conversation.output.count > 0 else { return }
        let bytes = conversation.takeOutput()
        context.writeAndFlush(
            wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
    }

    private func wantsInput(_ context: ChannelHandlerContext) -> Bool {
        !isReading && context.channel.isActive && context.channel.isWritable
            && takesLines
    }

    /// Whether another line may be begun.
    private var takesLines: Bool {
        !conversation.hasWaiting && conversation.unansweredLines < limits.pipelinedRequests
            && conversation.unansweredBytes < limits.pipelinedBytes
    }

    private func closeIfDone(_ context: ChannelHandlerContext) {
        guard !isClosing, !conversation.hasWaiting, conversation.unansweredLines == 0 else {
            return
        }
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

/// What the connections of one event loop share, one after the other: their parser, and the buffer
/// in which an answer is made before it joins its connection's output.
final class LoopDesk {
    let parser: RequestParser
    var scratch = JSONWriter()

    init(limits: Limits) { parser = RequestParser(limits: limits) }
}

extension Message {
    static func lineTooLong(limit: Int) -> Message {
        .single(Request(failed: .lineTooLong(limit: limit)))
    }
}
