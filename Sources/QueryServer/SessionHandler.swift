import Backend
import JSONText
import Logging
import NIOCore
import NIOPosix
import Objects
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
    private let parser: RequestParser
    private var framer: LineFramer
    private var conversation = Conversation()
    private var scratch = JSONWriter()
    private var context: ChannelHandlerContext?
    private var isReading = false
    private var inputEnded = false
    private var isClosing = false
    private var isRunning = false

    /// - Parameter parser: shared by the connections of one event loop.
    init(dispatcher: Dispatcher, limits: Limits, workers: NIOThreadPool, parser: RequestParser) {
        self.dispatcher = dispatcher
        self.limits = limits
        self.workers = workers
        self.parser = parser
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
        unwrapInboundIn(data).withUnsafeReadableBytes { framer.append($0) }
        run()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        context.fireChannelReadComplete()
        run()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        context.fireChannelWritabilityChanged()
        run()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            endInput()
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
        while context.channel.isWritable, step(context) {
            if conversation.output.count > limits.outputBytes / 2 { flush(context) }
        }
        flush(context)
        if inputEnded {
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
            scratch.removeAll()
            if dispatcher.answer(request, effort: .light, into: &scratch) {
                conversation.answered(ticket, request, scratch.bytes)
            } else {
                offload(request, ticket, context)
            }
            return true
        case .write(let request, let write, let ticket):
            submit(write, request, ticket, context)
            return true
        case .wait:
            guard !conversation.hasWaiting,
                conversation.unansweredLines < limits.pipelinedRequests
            else { return false }
            return takeLine()
        }
    }

    private func takeLine() -> Bool {
        switch framer.next() {
        case .line(let range):
            let message = framer.buffer.withUnsafeBufferPointer {
                parser.parse(UnsafeBufferPointer(rebasing: $0[range]))
            }
            conversation.receive(message)
            return true
        case .tooLong:
            conversation.receive(.lineTooLong(limit: limits.lineBytes))
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

    private func offload(
        _ request: Request, _ ticket: Conversation.Ticket, _ context: ChannelHandlerContext
    ) {
        let eventLoop = context.eventLoop
        workers.submit { [self] _ in
            var writer = JSONWriter()
            _ = dispatcher.answer(request, effort: .any, into: &writer)
            let answer = writer.bytes
            eventLoop.execute { self.finish(ticket, request, answer) }
        }
    }

    private func finish(_ ticket: Conversation.Ticket, _ request: Request, _ answer: [UInt8]) {
        conversation.answered(ticket, request, answer)
        run()
    }

    private func flush(_ context: ChannelHandlerContext) {
        guard conversation.output.count > 0 else { return }
        let bytes = conversation.takeOutput()
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
    }

    private func wantsInput(_ context: ChannelHandlerContext) -> Bool {
        !isReading && context.channel.isActive && context.channel.isWritable
            && !conversation.hasWaiting
            && conversation.unansweredLines < limits.pipelinedRequests
    }

    /// While answers pile up lines may be left in the framer: they have their turn when the client
    /// has read.
    private func closeIfDone(_ context: ChannelHandlerContext) {
        guard !isClosing, context.channel.isWritable, !conversation.hasWaiting,
            conversation.unansweredLines == 0
        else { return }
        isClosing = true
        // Behind what has been written: the client gets all its answers.
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }
}

extension Message {
    static func lineTooLong(limit: Int) -> Message {
        .single(Request(failed: .lineTooLong(limit: limit)))
    }
}
