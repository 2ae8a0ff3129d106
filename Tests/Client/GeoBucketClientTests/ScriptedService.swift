import JSONText
import NIOCore
import NIOPosix
import Synchronization
import TestSupport

/// A service that a test plays itself: it takes one request after the other, answers when it likes,
/// and says what it likes in between.
///
///     let start = try await service.request("watch.start")
///     service.answer(start, #"{"watch":"w1"}"#)
///     service.send(start.connection, "watch.snapshot", params)
final class ScriptedService: Sendable {
    struct Request: Sendable {
        let connection: Int
        let id: Int
        let method: String
        let params: JSONValue
    }

    let port: Int
    private let requests: AsyncStream<Request>
    private let arrived = Mutex<[Request]>([])
    private let channels = Mutex<[any Channel]>([])

    private init(_ port: Int, _ requests: AsyncStream<Request>, _ listening: Listening) {
        (self.port, self.requests) = (port, requests)
        listening.service.withLock { $0 = self }
    }

    /// What the listener's channels know.
    private final class Listening: Sendable {
        let service = Mutex<ScriptedService?>(nil)
    }

    /// Runs a service, and `body` with it.
    static func with<Result: Sendable>(
        _ body: (ScriptedService) async throws -> Result
    ) async throws -> Result {
        let (requests, continuation) = AsyncStream<Request>.makeStream()
        let listening = Listening()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                let number = listening.service.withLock { $0! }.channels.withLock {
                    $0.append(channel)
                    return $0.count - 1
                }
                return channel.pipeline.addHandler(Lines(number) { continuation.yield($0) })
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let service = ScriptedService(listener.localAddress!.port!, requests, listening)
        do {
            let result = try await body(service)
            try await service.stop(listener, listening)
            return result
        } catch {
            try await service.stop(listener, listening)
            throw error
        }
    }

    private func stop(_ listener: any Channel, _ listening: Listening) async throws {
        try await listener.close()
        for channel in channels.withLock({ $0 }) { channel.close(promise: nil) }
        listening.service.withLock { $0 = nil }
    }

    /// The next request of a method; others before it stay for later.
    func request(_ method: String) async throws -> Request {
        while true {
            let found = arrived.withLock { arrived in
                arrived.firstIndex { $0.method == method }.map { arrived.remove(at: $0) }
            }
            if let found { return found }
            var iterator = requests.makeAsyncIterator()
            guard let next = await iterator.next() else { throw CancellationError() }
            arrived.withLock { $0.append(next) }
        }
    }

    func answer(_ request: Request, _ result: String) {
        send(request.connection, #"{"jsonrpc":"2.0","id":\#(request.id),"result":\#(result)}"#)
    }

    func refuse(_ request: Request, _ errorCode: String) {
        send(
            request.connection,
            #"{"jsonrpc":"2.0","id":\#(request.id),"error":\#(Self.error(errorCode))}"#)
    }

    static func error(_ errorCode: String) -> String {
        #"{"code":1,"message":"m","data":{"errorCode":"\#(errorCode)"}}"#
    }

    /// A notification.
    func send(_ connection: Int, _ method: String, _ params: String) {
        send(connection, #"{"jsonrpc":"2.0","method":"\#(method)","params":\#(params)}"#)
    }

    /// Lines, in one piece.
    func send(_ connection: Int, _ text: String) {
        let channel = channels.withLock { $0[connection] }
        channel.writeAndFlush(ByteBuffer(string: text + "\n"), promise: nil)
    }

    func hangUp(_ connection: Int) {
        channels.withLock { $0[connection] }.close(promise: nil)
    }

    var connectionCount: Int { channels.withLock { $0.count } }

    /// `@unchecked Sendable`: used on its channel's event loop only.
    private final class Lines: ChannelInboundHandler, @unchecked Sendable {
        typealias InboundIn = ByteBuffer
        private let number: Int
        private let take: @Sendable (Request) -> Void
        private var pending = ByteBuffer()

        init(_ number: Int, _ take: @escaping @Sendable (Request) -> Void) {
            (self.number, self.take) = (number, take)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            pending.writeBuffer(&bytes)
            while let end = pending.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
                let line = pending.readBytes(length: end - pending.readerIndex)!
                pending.moveReaderIndex(forwardBy: 1)
                guard let request = try? JSONValue(parsing: line) else { continue }
                take(
                    Request(
                        connection: number, id: request["id"]?.int ?? 0,
                        method: request["method"]?.string ?? "",
                        params: request["params"] ?? .null))
            }
        }
    }
}
