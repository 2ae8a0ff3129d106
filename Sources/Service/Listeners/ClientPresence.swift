import NIOCore
import Synchronization

/// Whether the client of an HTTP connection is still there.
///
/// It counts as gone once it sends nothing any more: browsers, `curl` and GDAL end their side of a
/// connection only when they give up. Place it first, before TLS.
package final class ClientPresence: ChannelInboundHandler, Sendable {
    package typealias InboundIn = ByteBuffer

    /// That of the connection whose request the task answers; nil for other tasks.
    @TaskLocal package static var current: ClientPresence?

    private enum State {
        case present((@Sendable () -> Void)?)
        case gone
    }

    private let state = Mutex(State.present(nil))

    /// The presence of a client that has just come.
    package init() {}

    /// Has `body` called once when the client is gone, at once if it is, instead of the body of an
    /// earlier call. Nil: nothing is called.
    package func onEnd(_ body: (@Sendable () -> Void)?) {
        let isGone = state.withLock { state in
            guard case .present = state else { return true }
            state = .present(body)
            return false
        }
        if isGone { body?() }
    }

    private func end() {
        let body = state.withLock { state -> (@Sendable () -> Void)? in
            guard case .present(let body) = state else { return nil }
            state = .gone
            return body
        }
        body?()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { end() }
        context.fireUserInboundEventTriggered(event)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }
}
