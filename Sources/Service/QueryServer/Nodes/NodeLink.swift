import BackendContract
import JSONText
import NIOCore
import NIOPosix
import Runtime
import ServiceDesk

/// A connection to another node, over which the connections of one event loop pass requests on.
/// Requests do not wait for each other.
///
/// `@unchecked Sendable`: every member is used on the event loop only.
final class NodeLink: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Outcome {
        /// The text that the client gets.
        case answered([UInt8])
        /// The node does not hold the bucket, perhaps for a reason. Nothing was done.
        case absent(String?)
        /// No answer will come. If the request was sent, it may have been done.
        case lost(wasSent: Bool)
    }

    private enum Phase {
        case connecting
        /// The own random text was sent.
        case greeting(nonce: String)
        /// The own proof was sent.
        case proving(nonce: String, theirs: String)
        case open, ended
    }

    private struct Call {
        let text: [UInt8]
        let caller: Caller
        let done: (Outcome) -> Void
    }

    private let eventLoop: any EventLoop
    private let secret: NodeSecret
    private let clock: ServiceClock
    private let ended: (NodeLink) -> Void
    private var phase = Phase.connecting
    private var context: ChannelHandlerContext?
    private var channel: (any Channel)?
    private var input = ByteBuffer()
    private var output = ByteBuffer()
    private var isFlushing = false
    /// Calls that have not been sent.
    private var waiting: [Call] = []
    private var calls: [UInt64: (Outcome) -> Void] = [:]
    private var lastNumber: UInt64 = 0
    /// The callers that the other node knows, by their numbers, and what it knows of them.
    private var known: [UInt64: Grant?] = [:]
    private var heard: Int64
    private var pinged: Int64

    /// - Parameter ended: called once, when the link is of no more use.
    init(
        to node: ClusterNode, _ secret: NodeSecret, _ tls: TLSIdentity?, _ clock: ServiceClock,
        on eventLoop: any EventLoop, ended: @escaping (NodeLink) -> Void
    ) {
        self.eventLoop = eventLoop
        self.secret = secret
        self.clock = clock
        self.ended = ended
        (heard, pinged) = (clock.nanoseconds(), clock.nanoseconds())
        connect(node, tls)
    }

    private static let connectTime = TimeAmount.seconds(1)

    private func connect(_ node: ClusterNode, _ tls: TLSIdentity?) {
        guard let (host, port) = Self.parts(of: node.nodeAddress) else {
            return eventLoop.execute { self.end() }
        }
        ClientBootstrap(group: eventLoop)
            .connectTimeout(Self.connectTime)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    self.channel = channel
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(try tls.nodeHandler(host)) }
                    try pipeline.addHandler(self)
                }
            }
            .connect(host: host, port: port)
            .whenFailure { [self] _ in end() }
    }

    /// Host and port of `HOST:PORT`, an IPv6 host in brackets.
    private static func parts(of address: String) -> (host: String, port: Int)? {
        guard let colon = address.lastIndex(of: ":"),
            let port = Int(address[address.index(after: colon)...])
        else { return nil }
        return (address[..<colon].filter { $0 != "[" && $0 != "]" }, port)
    }

    // MARK: Calls

    /// Sends a request, now or as soon as the nodes have greeted each other.
    ///
    /// - Parameter done: called once, later.
    func call(_ text: [UInt8], by caller: Caller, _ done: @escaping (Outcome) -> Void) {
        let call = Call(text: text, caller: caller, done: done)
        switch phase {
        case .connecting, .greeting, .proving: waiting.append(call)
        case .open: send(call)
        case .ended: eventLoop.assumeIsolated().execute { done(.lost(wasSent: false)) }
        }
    }

    private func send(_ call: Call) {
        if calls.isEmpty { heard = clock.nanoseconds() }
        lastNumber += 1
        introduce(call.caller)
        calls[lastNumber] = call.done
        NodeFrame.write(.request, lastNumber, to: &output) { frame in
            frame.writeInteger(call.caller.number)
            frame.writeBytes(call.text)
        }
        flushSoon()
    }

    /// Tells the other node who a caller is, unless it knows.
    private func introduce(_ caller: Caller) {
        let grant = caller.grant
        if let present = known[caller.number], present == grant { return }
        known[caller.number] = .some(grant)
        var writer = JSONWriter()
        caller.writePassedOn(to: &writer)
        NodeFrame.write(.caller, caller.number, to: &output) { $0.writeBytes(writer.bytes) }
    }

    /// Tells the other node that a caller is gone.
    func forget(_ caller: Caller) {
        waiting.removeAll { $0.caller === caller }
        guard known.removeValue(forKey: caller.number) != nil else { return }
        NodeFrame.write(.farewell, caller.number, to: &output)
        flushSoon()
    }

    /// Sends what has gathered when the event loop has served all that is due.
    private func flushSoon() {
        guard !isFlushing else { return }
        isFlushing = true
        eventLoop.assumeIsolated().execute { [self] in
            isFlushing = false
            flush()
        }
    }

    private func flush() {
        guard let context, case .open = phase, output.readableBytes > 0 else { return }
        context.writeAndFlush(wrapOutboundOut(output), promise: nil)
        output = context.channel.allocator.buffer(capacity: 4_096)
    }

    // MARK: Watching

    private static let pingInterval: Int64 = 1_000_000_000

    /// Ends the link if the other node has been silent for too long while something is asked of it.
    func check(now: Int64, timeout: Int64) {
        guard !calls.isEmpty || !waiting.isEmpty else { return }
        if now - heard > timeout { return end() }
        guard case .open = phase, now - heard > Self.pingInterval,
            now - pinged > Self.pingInterval
        else { return }
        pinged = now
        NodeFrame.write(.ping, 0, to: &output)
        flushSoon()
    }

    /// Ends the link. All that has no answer gets none.
    func end() {
        if case .ended = phase { return }
        phase = .ended
        ended(self)
        channel?.close(promise: nil)
        let (sent, unsent) = (calls.values, waiting)
        (calls, waiting) = ([:], [])
        for done in sent { done(.lost(wasSent: true)) }
        for call in unsent { call.done(.lost(wasSent: false)) }
    }

    // MARK: Events of the channel

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        let nonce = NodeSecret.nonce()
        phase = .greeting(nonce: nonce)
        say(NodeSecret.greeting + nonce, context)
    }

    private func say(_ line: String, _ context: ChannelHandlerContext) {
        context.writeAndFlush(
            wrapOutboundOut(context.channel.allocator.buffer(string: line + "\n")), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        context.fireChannelInactive()
        end()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        heard = clock.nanoseconds()
        if input.readableBytes == 0 { input = bytes } else { input.writeBuffer(&bytes) }
        do {
            try take(context)
        } catch {
            context.close(promise: nil)
        }
    }

    private func take(_ context: ChannelHandlerContext) throws(NodeFrame.Fault) {
        while true {
            switch phase {
            case .connecting, .ended: return
            case .greeting, .proving:
                guard let line = try input.takeLine() else { return }
                try take(line, context)
            case .open:
                guard let frame = try NodeFrame.next(in: &input) else { return }
                take(frame)
            }
        }
    }

    private func take(_ line: String, _ context: ChannelHandlerContext) throws(NodeFrame.Fault) {
        switch phase {
        case .greeting(let nonce):
            guard let theirs = NodeSecret.nonce(in: line) else { throw NodeFrame.Fault() }
            phase = .proving(nonce: nonce, theirs: theirs)
            say(secret.proof(.asks, nonce, theirs), context)
        case .proving(let nonce, let theirs):
            guard secret.accepts(line, .answers, nonce, theirs) else { throw NodeFrame.Fault() }
            phase = .open
            let calls = waiting
            waiting = []
            for call in calls { send(call) }
        default: break
        }
    }

    private func take(_ frame: NodeFrame) {
        var frame = frame
        switch frame.kind {
        case .answer:
            let text = frame.rest.readBytes(length: frame.rest.readableBytes) ?? []
            calls.removeValue(forKey: frame.number)?(.answered(text))
        case .absent:
            let reason = frame.rest.readString(length: frame.rest.readableBytes) ?? ""
            calls.removeValue(forKey: frame.number)?(.absent(reason.isEmpty ? nil : reason))
        case .pong, .ping, .caller, .farewell, .request: break
        }
    }
}

extension ByteBuffer {
    /// Takes a line without its line break; nil until there is one.
    ///
    /// - Throws: for a line longer than any of a greeting.
    mutating func takeLine() throws(NodeFrame.Fault) -> String? {
        guard let end = readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else {
            if readableBytes > NodeSecret.lineBytes { throw NodeFrame.Fault() }
            return nil
        }
        let line = readString(length: end - readerIndex) ?? ""
        moveReaderIndex(forwardBy: 1)
        guard line.utf8.count <= NodeSecret.lineBytes else { throw NodeFrame.Fault() }
        return line
    }
}
