import JSONText
import NIOCore
import NIOPosix
import Synchronization

/// A service whose every answer a test decides.
final class FakeService: Sendable {
    enum Reply: Sendable {
        /// The result's JSON text.
        case result(String)
        /// The error's JSON text.
        case error(String)
        case silence
        /// Closes the connection instead.
        case hangUp
    }

    /// - Parameters:
    ///   - connection: from 0, in the order in which they came.
    ///   - method: what it asks for.
    typealias Script = @Sendable (_ connection: Int, _ method: String) -> Reply

    private let lines = Mutex<[JSONValue]>([])
    private let connections = Mutex(0)
    private let script: Script

    /// The id of every answer; nil is that of the oldest request without one.
    private let id: Int?

    init(id: Int? = nil, _ script: @escaping Script) {
        self.id = id
        self.script = script
    }

    /// Every request that came, in order.
    var requests: [JSONValue] { lines.withLock { $0 } }
    var connectionCount: Int { connections.withLock { $0 } }

    func serve<Result: Sendable>(
        _ body: (FakeService, Int) async throws -> Result
    ) async throws -> Result {
        let service = self
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                let number = service.connections.withLock { count in
                    defer { count += 1 }
                    return count
                }
                return channel.pipeline.addHandler(Conversation(service, number))
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            let result = try await body(service, channel.localAddress!.port!)
            try await channel.close()
            return result
        } catch {
            try await channel.close()
            throw error
        }
    }

    /// `@unchecked Sendable`: used on its channel's event loop only.
    private final class Conversation: ChannelInboundHandler, @unchecked Sendable {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let service: FakeService
        private let number: Int
        private var pending = ByteBuffer()
        private var unanswered: [Int] = []

        init(_ service: FakeService, _ number: Int) {
            self.service = service
            self.number = number
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            pending.writeBuffer(&bytes)
            while let end = pending.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
                let line = pending.readBytes(length: end - pending.readerIndex)!
                pending.moveReaderIndex(forwardBy: 1)
                if let request = try? JSONValue(parsing: line) { answer(request, context) }
            }
        }

        private func answer(_ request: JSONValue, _ context: ChannelHandlerContext) {
            service.lines.withLock { $0.append(request) }
            unanswered.append(request["id"]?.int ?? 0)
            let member: String
            switch service.script(number, request["method"]?.string ?? "") {
            case .result(let text): member = "\"result\":\(text)"
            case .error(let text): member = "\"error\":\(text)"
            case .silence: return
            case .hangUp:
                context.close(promise: nil)
                return
            }
            let id = service.id ?? unanswered.removeFirst()
            let line = #"{"jsonrpc":"2.0","id":\#(id),\#(member)}"# + "\n"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: line)), promise: nil)
        }
    }
}
