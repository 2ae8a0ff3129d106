import NIOCore
import NIOPosix
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A connection to a service: lines out, lines back in the same order.
///
///     try await LineConnection.with(host: "127.0.0.1", port: 4362) { connection in
///         let answer = try await connection.send(line)
///     }
///
/// Several tasks may send at once; their lines are pipelined.
public final class LineConnection: Sendable {
    private let channel: any Channel
    private let handler: AnswerHandler
    private let silence: TimeAmount
    private let lastID = Atomic(0)

    private init(channel: any Channel, handler: AnswerHandler, silence: TimeAmount) {
        self.channel = channel
        self.handler = handler
        self.silence = silence
    }

    /// Connects, runs `body` and closes, on every path.
    ///
    /// - Parameter tls: nil for a connection without TLS.
    /// - Throws: `ClientFailure.unreachable`, `.insecure`, or what `body` throws.
    public static func with<Result: Sendable>(
        host: String, port: Int, tls: ClientTLS? = nil,
        _ body: (LineConnection) async throws -> Result
    ) async throws -> Result {
        let address = ServiceAddress(host: host, port: port)
        let opening = open(address, .seconds(10), tls: tls)
        let connection: LineConnection
        do {
            connection = try await opening.value()
        } catch {
            opening.whenSuccess { $0.close() }
            throw error
        }
        do {
            let result = try await body(connection)
            try? await connection.close().get()
            return result
        } catch {
            try? await connection.close().get()
            throw error
        }
    }

    /// Connects; fails with `ClientFailure.unreachable` or `.insecure`, or with `.invalid` for
    /// faulty TLS files.
    ///
    /// - Parameters:
    ///   - timeout: for the connection and TLS together.
    ///   - tls: nil for a connection without TLS.
    ///   - silence: if a call times out and nothing has arrived for this long, the other side
    ///     counts as dead.
    static func open(
        _ address: ServiceAddress, _ timeout: Duration, tls: ClientTLS?, silence: Duration = .zero
    ) -> EventLoopFuture<LineConnection> {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let transport: ClientTLS.Transport?
        do {
            transport = try tls?.transport(to: address.host)
        } catch {
            return loop.makeFailedFuture(error)
        }
        let timeout = TimeAmount(timeout)
        let deadline = NIODeadline.now() + timeout
        let handler = AnswerHandler()
        let handshake = loop.makePromise(of: Void.self)
        if transport == nil { handshake.succeed() }
        return ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connectTimeout(timeout)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let transport {
                        try pipeline.addHandlers(try transport())
                        try pipeline.addHandler(HandshakeHandler(handshake))
                    }
                    try pipeline.addHandler(handler)
                }
            }
            .connect(host: address.host, port: address.port)
            .flatMapErrorThrowing { error in
                handshake.fail(error)
                throw error
            }
            .flatMap { channel in
                let timer = loop.scheduleTask(deadline: deadline) {
                    handshake.fail(ChannelError.connectTimeout(timeout))
                }
                handshake.futureResult.whenComplete { _ in timer.cancel() }
                handshake.futureResult.whenFailure { _ in channel.close(promise: nil) }
                return handshake.futureResult.map {
                    LineConnection(
                        channel: channel, handler: handler, silence: TimeAmount(silence))
                }
            }
            .flatMapErrorThrowing { error in
                if let reason = ClientTLS.refusal(for: error, by: address.host) {
                    throw ClientFailure.insecure(
                        host: address.host, port: address.port, reason: reason)
                }
                throw ClientFailure.unreachable(
                    host: address.host, port: address.port, reason: reason(for: error))
            }
    }

    /// The system's message about why the connection failed.
    private static func reason(for error: any Error) -> String {
        if case .connectTimeout? = error as? ChannelError { return "the attempt took too long" }
        let failure = error as? NIOConnectionError
        if let errno = (failure?.connectionErrors.last?.error as? IOError)?.errnoCode {
            return String(cString: strerror(errno))
        }
        if failure?.connectionErrors.isEmpty == true { return "the host is not known" }
        if error is ChannelError || ClientTLSContext.problem(error) != nil {
            return "TLS was not agreed on: \(ClientTLS.reason(for: error))"
        }
        return "\(error)"
    }

    var isOpen: Bool { channel.isActive }

    /// Succeeds when the connection has ended, on whichever side.
    var ended: EventLoopFuture<Void> { channel.closeFuture }

    /// Pending answers fail with `ClientFailure.disconnected`.
    @discardableResult
    func close() -> EventLoopFuture<Void> { channel.close() }

    /// The id of the next request.
    func newID() -> Int { lastID.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Sends one line, which must get one line as its answer, and returns that without its line
    /// break.
    public func send(_ line: [UInt8]) async throws -> [UInt8] {
        try await begin(line).value()
    }

    /// Sends one line without waiting. Lines begun by one task go out in the order of the calls.
    ///
    /// - Parameter deadline: when the answer fails with `ClientFailure.timedOut`.
    public func begin(_ line: [UInt8], deadline: NIODeadline? = nil) -> PendingAnswer {
        begin(line, id: nil, deadline: deadline)
    }

    /// - Parameters:
    ///   - id: the id of the request, which its answer must have.
    ///   - onAnswer: runs on the event loop with the answer, also if nobody waits for it any more,
    ///     before anything behind it is read.
    func begin(
        _ line: [UInt8], id: Int?, deadline: NIODeadline?,
        onAnswer: (@Sendable ([UInt8]) -> Void)? = nil
    ) -> PendingAnswer {
        let promise = channel.eventLoop.makePromise(of: [UInt8].self)
        channel.eventLoop.execute { [channel, handler, silence] in
            handler.expect(promise, onAnswer: onAnswer)
            var buffer = channel.allocator.buffer(capacity: line.count + 1)
            buffer.writeBytes(line)
            buffer.writeInteger(UInt8(ascii: "\n"))
            channel.writeAndFlush(buffer, promise: nil)
            if let deadline { Self.end(promise, at: deadline, channel, handler, silence) }
        }
        return PendingAnswer(promise: promise, id: id, channel: channel)
    }

    /// Gives the notifications of a watch to a receiver, or to nobody. At once on the event loop,
    /// where answers are taken; from elsewhere soon.
    func setReceiver(_ receiver: (any NotificationReceiver)?, of watch: String) {
        let loop = channel.eventLoop
        guard !loop.inEventLoop else { return handler.setReceiver(receiver, of: watch) }
        loop.execute { [handler] in handler.setReceiver(receiver, of: watch) }
    }

    /// Fails an answer that does not come in time. If nothing at all has arrived since its line was
    /// sent, and that is long ago, the other side counts as dead.
    private static func end(
        _ promise: EventLoopPromise<[UInt8]>, at deadline: NIODeadline, _ channel: any Channel,
        _ handler: AnswerHandler, _ silence: TimeAmount
    ) {
        let arrivalsBefore = handler.arrivals
        let isLongEnough = deadline - .now() >= silence
        let timer = channel.eventLoop.scheduleTask(deadline: deadline) {
            promise.fail(ClientFailure.timedOut)
            if isLongEnough, handler.arrivals == arrivalsBefore { channel.close(promise: nil) }
        }
        promise.futureResult.whenComplete { _ in timer.cancel() }
    }
}

/// The answer to a line that has been sent.
public struct PendingAnswer: Sendable {
    fileprivate let promise: EventLoopPromise<[UInt8]>
    fileprivate let id: Int?
    fileprivate let channel: any Channel

    /// The answer line without its line break.
    ///
    /// - Throws: `ClientFailure.disconnected` or `.timedOut`; `CancellationError` as soon as the
    ///   task is cancelled, although the service may still perform the request.
    public func value() async throws -> [UInt8] {
        try await promise.futureResult.cancellable(promise)
    }

    /// The result inside the answer, or the error inside it thrown.
    ///
    /// - Throws: as `value()`, and `ClientFailure.refused` or `.malformedAnswer`. An answer with
    ///   the id of another request ends the connection, because its state is then uncertain.
    public func result() async throws -> [UInt8] { try read(try await value()) }

    /// `result()` as a future.
    var futureResult: EventLoopFuture<[UInt8]> { promise.futureResult.flatMapThrowing(read) }

    private func read(_ answer: [UInt8]) throws -> [UInt8] {
        do {
            return try LineConnection.result(of: answer, id: id)
        } catch let failure as ClientFailure {
            if case .malformedAnswer = failure { channel.close(promise: nil) }
            throw failure
        }
    }
}

extension EventLoopFuture where Value: Sendable {
    /// The value, or `CancellationError` as soon as the task is cancelled.
    ///
    /// - Parameter promise: the promise of the future, which fails then.
    fileprivate func cancellable(_ promise: EventLoopPromise<Value>) async throws -> Value {
        try await withTaskCancellationHandler {
            try await get()
        } onCancel: {
            promise.fail(CancellationError())
        }
    }

    /// The value of a future that others wait for too. Cancellation and the deadline
    /// (`ClientFailure.timedOut`) end only this wait.
    func value(before deadline: NIODeadline? = nil) async throws -> Value {
        let promise = eventLoop.makePromise(of: Value.self)
        cascade(to: promise)
        if let deadline {
            let timer = eventLoop.scheduleTask(deadline: deadline) {
                promise.fail(ClientFailure.timedOut)
            }
            promise.futureResult.whenComplete { _ in timer.cancel() }
        }
        return try await promise.futureResult.cancellable(promise)
    }
}
