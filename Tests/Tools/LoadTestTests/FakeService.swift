import NIOCore
import NIOPosix

/// A service on a port of this machine that answers every line as a test wants it.
///
/// All its connections live on one event loop.
final class FakeService: Sendable {
    /// What becomes of a request, by its number among all requests but the first of each
    /// connection, which is always answered.
    enum Reaction: Sendable {
        case answer(String)
        /// Nothing is answered on any connection for so long; then all that waits is.
        case stall(TimeAmount)
        case close
        case silence
    }

    static let pong = #"{"jsonrpc":"2.0","id":1,"result":"pong"}"#

    /// Runs a service, gives `body` its port, stops it.
    static func with<Result: Sendable>(
        _ reaction: @escaping @Sendable (Int) -> Reaction, _ body: (Int) async throws -> Result
    ) async throws -> Result {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let state = NIOLoopBoundBox.makeBoxSendingValue(State(reaction), eventLoop: loop)
        do {
            let listener = try await ServerBootstrap(group: group)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Session(state.value))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            let result = try await body(listener.localAddress!.port!)
            try await group.shutdownGracefully()
            return result
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
    }

    fileprivate final class State {
        let reaction: @Sendable (Int) -> Reaction
        var requests = 0
        var isStalled = false
        var waiting: [ChannelHandlerContext] = []

        init(_ reaction: @escaping @Sendable (Int) -> Reaction) { self.reaction = reaction }
    }

    private final class Session: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let state: State
        private var isGreeted = false

        init(_ state: State) { self.state = state }

        // The load generator has one request under way, so what arrives is one line.
        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard isGreeted else {
                isGreeted = true
                return Self.answer(FakeService.pong, context)
            }
            state.requests += 1
            guard !state.isStalled else { return state.waiting.append(context) }
            switch state.reaction(state.requests) {
            case .answer(let line): Self.answer(line, context)
            case .close: context.close(promise: nil)
            case .silence: break
            case .stall(let time):
                state.isStalled = true
                state.waiting.append(context)
                let state = state
                context.eventLoop.assumeIsolated().scheduleTask(in: time) {
                    state.isStalled = false
                    for context in state.waiting { Self.answer(FakeService.pong, context) }
                    state.waiting = []
                }
            }
        }

        private static func answer(_ line: String, _ context: ChannelHandlerContext) {
            let bytes = context.channel.allocator.buffer(string: line + "\n")
            context.writeAndFlush(NIOAny(bytes), promise: nil)
        }
    }
}
