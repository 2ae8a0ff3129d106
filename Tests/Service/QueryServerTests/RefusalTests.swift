import NIOCore
import NIOEmbedded
import Objects
import ServiceDesk
import Testing

@testable import QueryServer

/// Connections above a limit, which are told why before they are closed.
@Suite struct RefusalTests {
    @Test func `A thousand refused connections are answered at a time, and more as these end`()
        throws
    {
        let connections = OpenConnections()
        let channels = (0..<1_000).map { _ in EmbeddedChannel() }
        for channel in channels { #expect(connections.admitRefusal(channel)) }
        for _ in 0..<2 { #expect(!connections.admitRefusal(EmbeddedChannel())) }
        for channel in channels.prefix(2) { try Self.close(channel) }
        let next = (0..<3).map { _ in connections.admitRefusal(EmbeddedChannel()) }
        #expect(next == [true, true, false])
        for channel in channels.dropFirst(2) { try Self.close(channel) }
        #expect(connections.admitRefusal(EmbeddedChannel()))
    }

    private static func close(_ channel: EmbeddedChannel) throws {
        try channel.close().wait()
        channel.embeddedEventLoop.run()
    }

    @Test func `A refused connection that asks for nothing is closed after two seconds`() throws {
        let failure = RPCFailure(ServiceFailure(.tooManyRequests, "too many"))
        let channel = EmbeddedChannel(handler: RefusalHandler(failure))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1_999))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!channel.isActive)
    }
}
