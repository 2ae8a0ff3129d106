import DequeModule
import Glibc
import NIOCore
import NIOPosix
import WireProtocol

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
    /// - Throws: `ClientFailure.unreachable`, or what `body` throws.
    public static func with<Result: Sendable>(
        host: String, port: Int, _ body: (LineConnection) async throws -> Result
    ) async throws -> Result {
        let connection = try await connect(host: host, port: port)
        do {
            let result = try await body(connection)
            try? await connection.channel.close()
            return result
        } catch {
            try? await connection.channel.close()
            throw error
        }
    }

    private static func connect(host: String, port: Int) async throws -> LineConnection {
        let handler = AnswerHandler()
        do {
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .connectTimeout(.seconds(10))
                .channelInitializer { $0.pipeline.addHandler(handler) }
                .connect(host: host, port: port).get()
            return LineConnection(channel: channel, handler: handler)
        } catch {
            throw ClientFailure.unreachable(host: host, port: port, reason: reason(for: error))
        }
    }

    /// The system's words for why no connection came about.
    private static func reason(for error: any Error) -> String {
        let failure = error as? NIOConnectionError
        if let errno = (failure?.connectionErrors.last?.error as? IOError)?.errnoCode {
            return String(cString: strerror(errno))
        }
        if failure?.connectionErrors.isEmpty == true { return "the host is not known" }
        return "\(error)"
    }

    /// Sends one line, which has to be answered by one, and returns that without its line break.
    public func send(_ line: [UInt8]) async throws -> [UInt8] {
        try await begin(line).value()
    }

    /// Sends one line without waiting. Lines begun by one task go out in the order of the calls.
    public func begin(_ line: [UInt8]) -> PendingAnswer {
        let promise = channel.eventLoop.makePromise(of: [UInt8].self)
        channel.eventLoop.execute { [channel, handler] in
            handler.expect(promise)
            var buffer = channel.allocator.buffer(capacity: line.count + 1)
            buffer.writeBytes(line)
            buffer.writeInteger(UInt8(ascii: "\n"))
            channel.writeAndFlush(buffer, promise: nil)
        }
        return PendingAnswer(future: promise.futureResult)
    }
}

/// The answer to a line that is on its way.
public struct PendingAnswer: Sendable {
    fileprivate let future: EventLoopFuture<[UInt8]>

    /// The answer line without its line break.
    ///
    /// - Throws: `ClientFailure.disconnected`.
    public func value() async throws -> [UInt8] { try await future.get() }
}

/// Hands each line that arrives to whoever has waited longest.
///
/// `@unchecked Sendable`: every member is touched on the channel's event loop only.
private final class AnswerHandler: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    private var waiting: Deque<EventLoopPromise<[UInt8]>> = []
    private var framer = LineFramer(limit: 1 << 30)
    private var isOver = false

    func expect(_ promise: EventLoopPromise<[UInt8]>) {
        if isOver {
            promise.fail(ClientFailure.disconnected)
        } else {
            waiting.append(promise)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unwrapInboundIn(data).withUnsafeReadableBytes { framer.append($0) }
        while case .line(let range) = framer.next() {
            waiting.popFirst()?.succeed(Array(framer.buffer[range]))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        isOver = true
        while let promise = waiting.popFirst() { promise.fail(ClientFailure.disconnected) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
