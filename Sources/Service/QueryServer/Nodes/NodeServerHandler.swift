import BackendContract
import DequeModule
import JSONText
import NIOCore
import Objects
import Operations
import Runtime
import WireProtocol

/// Carries out what another node passes on. Requests do not wait for each other, except that writes
/// are submitted in the order in which they come. A request for a bucket that this node does not
/// hold is sent back at once; it is never passed on again.
///
/// `@unchecked Sendable`: every member is used on the channel's event loop only.
final class NodeServerHandler: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// A request of a caller of the other node.
    private struct Order {
        let number: UInt64
        let callerNumber: UInt64
        let caller: Caller
        /// When it came, by the monotonic clock.
        let begin: Int64
    }

    private let dispatcher: Dispatcher
    private let workers: Workers
    private let scheduler: LoopScheduler
    private var context: ChannelHandlerContext?
    private var input: ByteBuffer
    private var output = ByteBuffer()
    private var callers: [UInt64: Caller] = [:]
    /// Reads that wait for a worker thread or run on one, by the number of their order.
    private var reads: [UInt64: (caller: UInt64, read: WaitingRead)] = [:]
    /// Writes that wait for room.
    private var writes: Deque<(Order, Request)> = []
    private var underWay = 0
    private var isDraining = false
    private var isReading = false
    private var isWaitingForTurn = false
    /// Whether it waits for room.
    private var isPaused = false
    var isUnsent = false

    /// - Parameter input: what has come after the greeting.
    init(
        dispatcher: Dispatcher, workers: Workers, scheduler: LoopScheduler, input: ByteBuffer
    ) {
        self.dispatcher = dispatcher
        self.workers = workers
        self.scheduler = scheduler
        self.input = input
    }

    private var limits: Limits { dispatcher.service.limits }

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
        for (_, read) in reads.values { read.end() }
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
        guard isDraining, underWay == 0, let context else { return }
        context.flush()
        context.close(promise: nil)
    }

    // MARK: Orders

    /// The time for which orders are begun before other connections have their turn; nanoseconds.
    private static let turnTime = Connection.turnTime

    private func work() {
        let end = dispatcher.service.clock.nanoseconds() + Self.turnTime
        do {
            while context != nil, let frame = try NodeFrame.next(in: &input) {
                try take(frame)
                if dispatcher.service.clock.nanoseconds() > end, input.readableBytes > 0 {
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
            for (caller, read) in reads.values where caller == frame.number { read.end() }
        case .request:
            guard let number: UInt64 = frame.rest.readInteger(), let caller = callers[number] else {
                throw NodeFrame.Fault()
            }
            let order = Order(
                number: frame.number, callerNumber: number, caller: caller,
                begin: dispatcher.service.clock.nanoseconds())
            underWay += 1
            look(frame.rest, order)
        case .ping: NodeFrame.write(.pong, frame.number, to: &output)
        case .pong, .answer, .absent: break
        }
    }

    private func look(_ text: ByteBuffer, _ order: Order) {
        if isDraining { return sendBack(order) }
        guard text.readableBytes <= LongText.shortBytes else { return examine(text, order) }
        let found = text.withUnsafeReadableBytes {
            dispatcher.look(
                atElement: $0.assumingMemoryBound(to: UInt8.self), scheduler.parser,
                from: order.caller)
        }
        switch found {
        case .request(let request): begin(request, order)
        case .much, .batch: examine(text, order, isAdmitted: true)
        }
    }

    /// Parses a long request on a worker thread.
    private func examine(_ text: ByteBuffer, _ order: Order, isAdmitted: Bool = false) {
        let bytes = Array(text.readableBytesView)[...]
        let long = LongText(bytes, isElement: true, isAdmitted: isAdmitted)
        perform(on: workers.parsing, order) { [self] in
            let found = dispatcher.examine(long, from: order.caller)
            return { [self] in
                guard case .request(let request) = found else { return sendBack(order) }
                begin(request, order)
            }
        }
    }

    /// Runs a job on a worker thread, and what it returns on the event loop.
    private func perform(
        on threads: FairWorkers, _ order: Order,
        _ job: @escaping @Sendable () -> @Sendable () -> Void
    ) {
        guard let eventLoop = context?.eventLoop else { return }
        threads.submit(for: order.caller.share) {
            let rest = job()
            eventLoop.execute { [self] in
                rest()
                write()
            }
        }
    }

    private func begin(_ request: Request, _ order: Order) {
        if request.passage != nil { return sendBack(order, request) }
        // The node that gathers asks each for its own answer.
        let course = request.course(
            hasNodes: false, mayReadAtOnce: dispatcher.service.mayReadAtOnce)
        switch course {
        case .write:
            writes.append((order, request))
            submitWrites()
        case .await(let change): read(request, atLeast: change, order)
        case .passOn, .gather, .run: run(request, order)
        }
    }

    private func read(_ request: Request, atLeast change: ChangeNumber?, _ order: Order) {
        guard let eventLoop = context?.eventLoop else { return }
        let executor = scheduler.executor
        let mayRead = dispatcher.service.mayRead(1, atLeast: change) { [self] failure in
            executor.execute(on: eventLoop) { [self] in
                run(failure.map { request.refused(RPCFailure($0)) } ?? request, order)
                write()
            }
        }
        if mayRead { run(request, order) }
    }

    private func run(_ request: Request, _ order: Order) {
        guard context != nil else { return }
        switch dispatcher.start(request, from: order.caller, since: order.begin) {
        case .here(let read): answer(read, order)
        case .onWorker(let read): offload(request, read, order)
        case .after:
            let refused = request.refused(.invalidRequest("it belongs to a client's connection"))
            answer(ReadyRead(request: refused, begin: order.begin), order)
        }
    }

    private func answer(_ read: ReadyRead, _ order: Order) {
        dispatcher.answer(read, from: order.caller, into: &scheduler.output)
        sendOutput(as: order.number)
    }

    private func offload(_ request: Request, _ prepared: ReadyRead?, _ order: Order) {
        let waiting = WaitingRead(prepared, since: order.begin)
        reads[order.number] = (order.callerNumber, waiting)
        guard let eventLoop = context?.eventLoop else { return }
        dispatcher.offload(request, waiting, from: order.caller, to: workers.reads) { [self] read in
            var writer = JSONWriter()
            dispatcher.answer(read, from: order.caller, until: waiting.stop, into: &writer)
            let answer = writer.bytes
            eventLoop.execute { [self] in
                reads[order.number] = nil
                scheduler.output.raw(answer)
                sendOutput(as: order.number)
                write()
            }
        }
    }

    // MARK: Writes

    private func submitWrites() {
        guard context != nil else {
            writes = []
            return
        }
        let end = dispatcher.service.clock.nanoseconds() + Self.turnTime
        while !isPaused, let (order, request) = writes.first {
            guard scheduler.takesWrites(of: self) else {
                isPaused = true
                return scheduler.pause(self)
            }
            writes.removeFirst()
            guard let (write, key) = request.write else { continue }
            scheduler.begin(bytes: write.memoryBytes, of: self)
            let answers = scheduler.finishedAnswers
            dispatcher.service.submit(write, key: key, by: order.caller) { [self] result in
                let finished = FinishedWrite(
                    request: request, write: write, result: result, begin: order.begin,
                    order: order.number)
                answers.put(.write(finished), for: self)
            }
            if dispatcher.service.clock.nanoseconds() > end, !writes.isEmpty { return awaitTurn() }
        }
    }

    private func awaitTurn() {
        guard !isWaitingForTurn else { return }
        isWaitingForTurn = true
        scheduler.queue(self)
    }

    // MARK: Answers

    /// Sends what stands in the loop's output as the answer to an order.
    private func sendOutput(as order: UInt64) {
        NodeFrame.write(.answer, order, to: &output) { frame in
            scheduler.output.withBytes { _ = frame.writeBytes(UnsafeRawBufferPointer($0)) }
        }
        scheduler.output.removeAll(keeping: 1 << 20)
        underWay -= 1
    }

    private func sendBack(_ order: Order, _ request: Request? = nil) {
        let reason = request?.passage.flatMap {
            dispatcher.service.placement?.obstacle(to: $0.bucket)
        }
        NodeFrame.write(.absent, order.number, to: &output) { frame in
            if let reason { frame.writeString(reason) }
        }
        underWay -= 1
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
        guard case .write(let finished) = finished, let order = finished.order else { return }
        scheduler.end(finished.write)
        dispatcher.answer(finished, into: &scheduler.output)
        sendOutput(as: order)
    }

    func goOn() { write() }

    /// Drops the costly reads that have waited for too long, and the exports that nobody continues.
    func look(now: Int64) -> Bool {
        let idle = Duration.milliseconds(limits.exportIdleMilliseconds)
        for caller in callers.values where caller.export.isUnderWay {
            _ = caller.export.expire(after: idle)
        }
        for (_, read) in reads.values
        where (now - read.begin) / 1_000_000 > limits.queueMilliseconds {
            _ = read.take()
        }
        return false
    }

    func evict() {}
}
