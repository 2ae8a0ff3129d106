import JSONText
import NIOCore
import Objects
import ServiceDesk

/// Finds out whether a new connection is one of another node: it begins with a greeting, which no
/// client sends. Anything else it passes on, and leaves.
///
/// `@unchecked Sendable`: every member is used on the channel's event loop only.
final class NodeGreeting: ChannelInboundHandler, RemovableChannelHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        case listening
        /// Both random texts are known.
        case asked(theirs: String, nonce: String)
    }

    private let secret: NodeSecret
    private let accepted: (ByteBuffer) -> Void
    private var phase = Phase.listening
    private var input = ByteBuffer()

    /// - Parameter accepted: called with what follows the greeting when the other side is a node.
    init(_ secret: NodeSecret, accepted: @escaping (ByteBuffer) -> Void) {
        self.secret = secret
        self.accepted = accepted
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        input.writeBuffer(&bytes)
        if case .listening = phase, !mayBeGreeting { return leave(context) }
        do {
            while let line = try input.takeLine() { try take(line, context) }
        } catch {
            context.close(promise: nil)
        }
    }

    private var mayBeGreeting: Bool {
        zip(input.readableBytesView, NodeSecret.greeting.utf8).allSatisfy { $0 == $1 }
    }

    private func leave(_ context: ChannelHandlerContext) {
        context.fireChannelRead(wrapInboundOut(input))
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    private func take(_ line: String, _ context: ChannelHandlerContext) throws(NodeFrame.Fault) {
        switch phase {
        case .listening:
            guard let theirs = NodeSecret.nonce(in: line) else { throw NodeFrame.Fault() }
            let nonce = NodeSecret.nonce()
            phase = .asked(theirs: theirs, nonce: nonce)
            say(NodeSecret.greeting + nonce, context)
        case .asked(let theirs, let nonce):
            guard secret.accepts(line, .asks, theirs, nonce) else { return refuse(context) }
            say(secret.proof(.answers, theirs, nonce), context)
            accepted(input)
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        }
    }

    private func say(_ line: String, _ context: ChannelHandlerContext) {
        context.writeAndFlush(
            wrapOutboundOut(context.channel.allocator.buffer(string: line + "\n")), promise: nil)
    }

    private func refuse(_ context: ChannelHandlerContext) {
        var writer = JSONWriter()
        AnswerWriter.failure(
            RPCFailure(ServiceFailure(.unauthorized, "this is not the cluster's token")), id: nil,
            to: &writer)
        writer.byte(UInt8(ascii: "\n"))
        context.writeAndFlush(
            wrapOutboundOut(context.channel.allocator.buffer(bytes: writer.bytes))
        )
        .assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }
}
