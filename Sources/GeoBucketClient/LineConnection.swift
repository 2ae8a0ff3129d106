import Glibc
import NIOCore
import NIOPosix
import NIOSSL

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

    private init(channel: any Channel, handler: AnswerHandler) {
        self.channel = channel
        self.handler = handler
    }

    /// Connects, runs `body` and closes, on every path.
    ///
    /// - Parameter tls: nil for a connection without it.
    /// - Throws: `ClientFailure.unreachable`, or what `body` throws.
    public static func with<Result: Sendable>(
        host: String, port: Int, tls: ClientTLS? = nil,
        _ body: (LineConnection) async throws -> Result
    ) async throws -> Result {
        let address = ServiceAddress(host: host, port: port)
        let connection = try await open(address, .seconds(10), tls: tls).get()
        do {
            let result = try await body(connection)
            try? await connection.close().get()
            return result
        } catch {
            try? await connection.close().get()
            throw error
        }
    }

    /// Connects; fails with `ClientFailure.unreachable`.
    ///
    /// - Parameter tls: nil for a connection without it.
    static func open(
        _ address: ServiceAddress, _ timeout: Duration, tls: ClientTLS?
    ) -> EventLoopFuture<LineConnection> {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let handler = AnswerHandler()
        let handshake = loop.makePromise(of: Void.self)
        if tls == nil { handshake.succeed() }
        return ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connectTimeout(TimeAmount(timeout))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls {
                        try pipeline.addHandlers(try tls.handlers(host: address.host))
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
                handshake.futureResult.map { LineConnection(channel: channel, handler: handler) }
            }
            .flatMapErrorThrowing { error in
                throw ClientFailure.unreachable(
                    host: address.host, port: address.port, reason: reason(for: error))
            }
    }

    /// The system's words for why no connection came about.
    private static func reason(for error: any Error) -> String {
        if case .connectTimeout? = error as? ChannelError { return "the attempt took too long" }
        let failure = error as? NIOConnectionError
        if let errno = (failure?.connectionErrors.last?.error as? IOError)?.errnoCode {
            return String(cString: strerror(errno))
        }
        if failure?.connectionErrors.isEmpty == true { return "the host is not known" }
        if error is NIOSSLError || error is ChannelError || error is NIOSSLExtraError {
            return "TLS was not agreed on: \(error)"
        }
        return "\(error)"
    }

    var isOpen: Bool { channel.isActive }

    /// Succeeds when the connection has ended, whoever ended it.
    var ended: EventLoopFuture<Void> { channel.closeFuture }

    /// Answers under way fail with `ClientFailure.disconnected`.
    @discardableResult
    func close() -> EventLoopFuture<Void> { channel.close() }

    /// Sends one line, which has to be answered by one, and returns that without its line break.
    public func send(_ line: [UInt8]) async throws -> [UInt8] {
        try await begin(line).value()
    }

    /// Sends one line without waiting. Lines begun by one task go out in the order of the calls.
    ///
    /// - Parameter deadline: when the answer fails with `ClientFailure.timedOut`.
    public func begin(_ line: [UInt8], deadline: NIODeadline? = nil) -> PendingAnswer {
        let promise = channel.eventLoop.makePromise(of: [UInt8].self)
        channel.eventLoop.execute { [channel, handler] in
            handler.expect(promise)
            var buffer = channel.allocator.buffer(capacity: line.count + 1)
            buffer.writeBytes(line)
            buffer.writeInteger(UInt8(ascii: "\n"))
            channel.writeAndFlush(buffer, promise: nil)
            if let deadline { Self.end(promise, at: deadline, channel, handler) }
        }
        return PendingAnswer(promise: promise)
    }

    /// Fails an answer that does not come in time. When nothing at all has come since its line went
    /// out, the other side is taken for dead.
    private static func end(
        _ promise: EventLoopPromise<[UInt8]>, at deadline: NIODeadline, _ channel: any Channel,
        _ handler: AnswerHandler
    ) {
        let linesBefore = handler.linesReceived
        let timer = channel.eventLoop.scheduleTask(deadline: deadline) {
            promise.fail(ClientFailure.timedOut)
            if handler.linesReceived == linesBefore { channel.close(promise: nil) }
        }
        promise.futureResult.whenComplete { _ in timer.cancel() }
    }
}

/// The answer to a line that is on its way.
public struct PendingAnswer: Sendable {
    fileprivate let promise: EventLoopPromise<[UInt8]>

    var answer: EventLoopFuture<[UInt8]> { promise.futureResult }

    /// The answer line without its line break.
    ///
    /// - Throws: `ClientFailure.disconnected` or `.timedOut`; `CancellationError` as soon as the
    ///   task is cancelled, though the service may still do what was asked.
    public func value() async throws -> [UInt8] {
        try await promise.futureResult.cancellable(promise)
    }
}

extension EventLoopFuture where Value: Sendable {
    /// The value, or `CancellationError` as soon as the task is cancelled.
    ///
    /// - Parameter promise: the future's own, which is failed then.
    fileprivate func cancellable(_ promise: EventLoopPromise<Value>) async throws -> Value {
        try await withTaskCancellationHandler {
            try await get()
        } onCancel: {
            promise.fail(CancellationError())
        }
    }

    /// The value of a future that others wait for too; only this wait ends by cancellation or at
    /// the deadline, then with `ClientFailure.timedOut`.
    func value(before deadline: NIODeadline) async throws -> Value {
        let promise = eventLoop.makePromise(of: Value.self)
        cascade(to: promise)
        let timer = eventLoop.scheduleTask(deadline: deadline) {
            promise.fail(ClientFailure.timedOut)
        }
        promise.futureResult.whenComplete { _ in timer.cancel() }
        return try await promise.futureResult.cancellable(promise)
    }
}
