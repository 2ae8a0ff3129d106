import HummingbirdCore
import Listeners
import Logging
import NIOCore
import NIOHTTP1
import Runtime

/// The library's HTTP connection, counted in `HTTPConnections`, with the presence of its client,
/// whose requests take turns.
struct CountedChannel: ServerChildChannel {
    let http: HTTP1Channel
    let limits: HTTPConnectionLimits
    let connections: HTTPConnections
    let tls: (@Sendable () -> any ChannelHandler)?
    let refusal: Refusal?

    struct Value: ServerChildChannelValue {
        let http: HTTP1Channel.Value
        let client: ClientPresence
        let connection: HTTPConnection

        var channel: any Channel { http.channel }
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let client = ClientPresence()
        let address = channel.remoteAddress?.clientAddress ?? "unknown"
        let connection = HTTPConnection(channel, address: address, limits)
        let intake = channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            // What has been read is kept until its turn comes.
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            try channel.syncOptions?.setOption(.unsentBytes, value: maximumUnsentBytes)
            try channel.syncOptions?.setOption(.socketOption(.so_keepalive), value: 1)
            if let bytes = limits.kernelBytes {
                let option = ChannelOptions.socketOption(.so_sndbuf)
                try channel.syncOptions?.setOption(option, value: SocketOptionValue(bytes))
            }
            try pipeline.addHandler(ClientPresenceHandler(client))
            if let tls { try pipeline.addHandler(tls()) }
            let intake = RequestIntake(connection)
            try pipeline.addHandler(intake)
            return NIOLoopBound(intake, eventLoop: channel.eventLoop)
        }
        return intake.flatMap { intake in
            http.setup(channel: channel, logger: logger).flatMapThrowing { value in
                let pipeline = channel.pipeline.syncOperations
                let decoder = try pipeline.handler(
                    type: ByteToMessageHandler<HTTPRequestDecoder>.self)
                try pipeline.addHandler(
                    RequestTurns(connection, intake.value, refusal), position: .after(decoder))
                connections.admit(connection)
                return Value(http: value, client: client, connection: connection)
            }
        }
    }

    func handle(value: Value, logger: Logger) async {
        await ClientPresence.$current.withValue(value.client) {
            await HTTPConnection.$current.withValue(value.connection) {
                await http.handle(value: value.http, logger: logger)
            }
        }
    }
}
