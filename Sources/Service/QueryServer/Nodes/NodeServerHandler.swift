import BackendContract
import DequeModule
import JSONText
import NIOCore
import Objects
import Runtime
import ServiceDesk

/// Carries out what another node forwards. Requests do not wait for each other, except that writes
/// are submitted in the order in which they come. A request for a bucket that this node does not
/// hold is sent back at once; it is never forwarded again.
///
/// `@unchecked Sendable`: every member is used on the channel's event loop only.
final class NodeServerHandler: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let desk: Desk
    let scheduler: LoopScheduler
    private var context: ChannelHandlerContext?
    private var input: ByteBuffer
    private var output = ByteBuffer()
    private var callers: [UInt64: Caller] = [:]
    /// What takes its time, by the number of its request.
    var underWay: [UInt64: (caller: UInt64, work: any WorkUnderWay)] = [:]
    /// Writes that wait for room.
    private var writes: Deque<(NodeRequest, ServiceRequest)> = []
    private var unanswered = 0
    private var isDraining = false
    private var isReading = false
    private var isWaitingForTurn = false
    /// Whether it waits for room.
    private var isPaused = false
    var isUnsent = false

    /// - Parameter input: what has come after the greeting.
    init(
        desk: Desk, scheduler: LoopScheduler, input: ByteBuffer
    ) {
        self.desk = desk
        self.scheduler = scheduler
        self.input = input
    }

    private var limits: Limits { desk.service.limits }

    // MARK: Events of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        scheduler.rounds.add(self)
        // After the greeting has left the pipeline.
        context.eventLoop.assumeIsolated().execute { [self] in
            work()
            readOn()
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        scheduler.rounds.remove(self)
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        for (_, work) in underWay.values { work.end() }
        for caller in callers.values { caller.export.close() }
        writes = []
        self.context = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if input.readableBytes == 0 { input = bytes } else { input.writeBuffer(&bytes) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        work()
        readOn()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        readOn()
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    /// Reads more, unless the other node is slow to take answers or there is much to do.
    private func readOn() {
        guard let context, !isReading, !isWaitingForTurn, context.channel.isWritable else { return }
        isReading = true
        context.read()
    }

    /// Answers what has begun, sends back what comes, and closes.
    func drain() {
        isDraining = true
        endIfDrained()
    }

    private func endIfDrained() {
        guard isDraining, unanswered == 0, let context else { return }
        context.flush()
        context.close(promise: nil)
    }

    // MARK: Requests

    /// The time for which requests are begun before other connections have their turn; nanoseconds.
    private static let turnTime = Connection.turnTime

    private func work() {
        let end = desk.service.clock.nanoseconds() + Self.turnTime
        do {
            while context != nil, let frame = try NodeFrame.next(in: &input) {
                try take(frame)
                if desk.service.clock.nanoseconds() > end, input.readableBytes > 0 {
                    awaitTurn()
                    break
                }
            }
        } catch {
            context?.close(promise: nil)
        }
        write()
    }

    private func take(_ frame: NodeFrame) throws(NodeFrame.Fault) {
        var frame = frame
        switch frame.kind {
        case .caller:
            let text = frame.rest.readBytes(length: frame.rest.readableBytes) ?? []
            guard let caller = Caller(passedOn: text) else { throw NodeFrame.Fault() }
            callers.updateValue(caller, forKey: frame.number)?.export.close()
        case .farewell:
            callers.removeValue(forKey: frame.number)?.export.close()
            for (caller, work) in underWay.values where caller == frame.number { work.end() }
        case .request:
            guard let number: UInt64 = frame.rest.readInteger(), let caller = callers[number] else {
                throw NodeFrame.Fault()
            }
            unanswered += 1
            parse(frame.rest, of: NodeRequest(frame.number, by: (number, caller), on: self))
        case .ping: NodeFrame.write(.pong, frame.number, to: &output)
        case .pong, .answer, .absent: break
        }
    }

    private func parse(_ text: ByteBuffer, of asker: NodeRequest) {
        if isDraining { return sendBack(asker) }
        guard text.readableBytes <= LongText.shortBytes else { return parseLong(text, of: asker) }
        let found = text.withUnsafeReadableBytes {
            desk.parse(
                element: $0.assumingMemoryBound(to: UInt8.self), scheduler.parser,
                from: asker.caller)
        }
        switch found {
        case .request(let request): begin(request, of: asker)
        case .much, .batch: parseLong(text, of: asker, isAdmitted: true)
        }
    }

    /// Parses a long request on a worker thread.
    private func parseLong(_ text: ByteBuffer, of asker: NodeRequest, isAdmitted: Bool = false) {
        guard let eventLoop = context?.eventLoop else { return }
        let bytes = Array(text.readableBytesView)[...]
        let long = LongText(bytes, isElement: true, isAdmitted: isAdmitted)
        desk.workers.parsing.submit(for: asker.caller.share) { [self] in
            let found = desk.parse(long, from: asker.caller)
            eventLoop.execute { [self] in
                if case .request(let request) = found {
                    begin(request, of: asker)
                } else {
                    sendBack(asker)
                }
                write()
            }
        }
    }

    private func begin(_ request: ServiceRequest, of asker: NodeRequest) {
        guard context != nil else { return }
        if request.forwarded != nil { return sendBack(asker, request) }
        guard request.isWrite else {
            return desk.carryOut(request, for: asker, since: asker.begin)
        }
        writes.append((asker, request))
        submitWrites()
    }

    private func submitWrites() {
        guard context != nil else {
            writes = []
            return
        }
        let end = desk.service.clock.nanoseconds() + Self.turnTime
        while !isPaused, let (asker, request) = writes.first {
            guard scheduler.takesWrites(of: self) else {
                isPaused = true
                return scheduler.pause(self)
            }
            writes.removeFirst()
            desk.carryOut(request, for: asker, since: asker.begin)
            if desk.service.clock.nanoseconds() > end, !writes.isEmpty { return awaitTurn() }
        }
    }

    private func awaitTurn() {
        guard !isWaitingForTurn else { return }
        isWaitingForTurn = true
        scheduler.queue(self)
    }

    // MARK: Answers

    /// Sends what `body` writes as the answer to a request.
    func answer(_ asker: NodeRequest, _ body: (inout JSONWriter) -> Void) {
        underWay[asker.number] = nil
        body(&scheduler.output)
        NodeFrame.write(.answer, asker.number, to: &output) { frame in
            scheduler.output.withBytes { _ = frame.writeBytes(UnsafeRawBufferPointer($0)) }
        }
        scheduler.output.removeAll(keeping: 1 << 20)
        unanswered -= 1
    }

    private func sendBack(_ asker: NodeRequest, _ request: ServiceRequest? = nil) {
        let reason = request?.forwarded.flatMap {
            desk.service.placement?.obstacle(to: $0.bucket)
        }
        NodeFrame.write(.absent, asker.number, to: &output) { frame in
            if let reason { frame.writeString(reason) }
        }
        unanswered -= 1
    }

    /// Writes what has been answered to the channel; the scheduler decides when it is flushed.
    private func write() {
        guard let context, output.readableBytes > 0 else { return endIfDrained() }
        context.write(wrapOutboundOut(output), promise: nil)
        output = context.channel.allocator.buffer(capacity: 4_096)
        scheduler.send(self, inTurn: false, now: scheduler.clock.nanoseconds())
        endIfDrained()
    }
}

/// What the scheduler calls.
extension NodeServerHandler: ScheduledConnection {
    /// The node that passes requests on bounds what it has of each connection.
    var bufferedBytes: Int { 0 }

    func takeTurn() {
        isWaitingForTurn = false
        submitWrites()
        work()
        readOn()
    }

    func takeRoom() {
        isPaused = false
        submitWrites()
        write()
    }

    func sendOutput() {
        isUnsent = false
        context?.flush()
    }

    func take(_ finished: FinishedAnswer) {
        guard case .forOtherNode(let asker, let finished) = finished else { return }
        switch finished {
        case .write(let finished):
            scheduler.end(finished.write)
            answer(asker) { desk.answer(finished, into: &$0) }
        case .read(let text): answer(asker) { $0.raw(text) }
        case .mayRead(let request, let failure):
            guard context != nil else { return }
            let admitted = failure.map { request.refused(RPCFailure($0)) } ?? request
            desk.start(admitted, for: asker, since: asker.begin)
        }
    }

    func goOn() { write() }

    /// Drops the costly reads that have waited for too long, and the exports that nobody continues.
    func check(now: Int64) -> Bool {
        let idle = Duration.milliseconds(limits.exportIdleMilliseconds)
        for caller in callers.values where caller.export.isUnderWay {
            _ = caller.export.expire(after: idle)
        }
        for (_, work) in underWay.values { work.letGo(now: now, limits) }
        return false
    }

    func evict() {}
}
