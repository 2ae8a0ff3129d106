import NIOCore
import Runtime

/// Ends the presence of an HTTP connection's client.
///
/// It counts as gone once it sends nothing any more: browsers, `curl` and GDAL end their side of a
/// connection only when they give up. Place it first, before TLS.
package final class ClientPresenceHandler: ChannelInboundHandler, Sendable {
    package typealias InboundIn = ByteBuffer

    private let client: ClientPresence

    package init(_ client: ClientPresence) { self.client = client }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { client.end() }
        context.fireUserInboundEventTriggered(event)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        client.end()
        context.fireChannelInactive()
    }
}
