import Logging
import NIOCore
import NIOEmbedded
import Objects
import Runtime
import ServiceDesk
import TestSupport
import Testing

@testable import QueryServer

/// A connection's actions, carried out on a channel.
@Suite struct ConnectionHandlerTests {
    private static let ping = #"{"jsonrpc":"2.0","id":1,"method":"server.ping"}"# + "\n"
    private static let pong = #"{"jsonrpc":"2.0","id":1,"result":"pong"}"# + "\n"

    @Test func `A client that ends its side gets its answers, then the connection is closed`()
        async throws
    {
        let sent = try await Workers.with(Limits()) { workers in
            try Self.sent(workers) { channel, _ in
                try channel.writeInbound(ByteBuffer(string: Self.ping + Self.ping))
                #expect(channel.isActive)
                channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
                Self.takeTurns(channel)
                #expect(!channel.isActive)
            }
        }
        #expect(sent == Self.pong + Self.pong)
    }

    @Test func `A line that begins after a long pause has its full time`() async throws {
        var limits = Limits()
        limits.lineMilliseconds = 10_000
        let sent = try await Self.sent(limits) { channel, handler, pass in
            try channel.writeInbound(ByteBuffer(string: Self.ping))
            pass(60_850)
            #expect(handler.isIdle)
            try channel.writeInbound(ByteBuffer(string: "{"))
            #expect(!handler.isIdle)
            pass(9_950)
            #expect(channel.isActive)
            pass(1_000)
            #expect(!channel.isActive)
        }
        #expect(sent.hasPrefix(Self.pong))
        #expect(sent.contains("10000 ms"))
    }

    @Test func `An idle connection ends when its time is over`() async throws {
        var limits = Limits()
        limits.idleMilliseconds = 20_000
        let sent = try await Self.sent(limits) { channel, handler, pass in
            for _ in 0..<3 {
                try channel.writeInbound(ByteBuffer(string: Self.ping))
                pass(19_900)
                #expect(channel.isActive && handler.isIdle)
            }
            pass(3_000)
            #expect(!channel.isActive)
        }
        #expect(sent == String(repeating: Self.pong, count: 3))
    }

    /// All that a connection sends. `body` may let milliseconds pass.
    private static func sent(
        _ limits: Limits,
        _ body: @Sendable (EmbeddedChannel, ConnectionHandler, (Int64) -> Void) throws -> Void
    ) async throws -> String {
        let time = TestClock()
        return try await Workers.with(limits) { workers in
            try sent(workers, limits, ServiceClock(nanoseconds: { time.now })) { channel, handler in
                try body(channel, handler) { milliseconds in
                    for _ in 0..<milliseconds / 50 {
                        time.advance(50_000_000)
                        channel.embeddedEventLoop.advanceTime(by: .milliseconds(50))
                    }
                }
            }
        }
    }

    /// Lets the event loop have its rounds: a slow machine's connection waits for turns.
    private static func takeTurns(_ channel: EmbeddedChannel) {
        for _ in 1...10 { channel.embeddedEventLoop.advanceTime(by: .milliseconds(1)) }
    }

    /// All that a connection sends.
    private static func sent(
        _ workers: Workers, _ limits: Limits = Limits(), _ clock: ServiceClock = ServiceClock(),
        _ body: (EmbeddedChannel, ConnectionHandler) throws -> Void
    ) throws -> String {
        let loop = EmbeddedEventLoop()
        let service = QueryService(backend: EndlessBackend(), limits: limits, clock: clock)
        let scheduler = LoopScheduler(
            service: service, eventLoop: loop, executor: LoopExecutor(),
            room: WriteRoom(bytes: limits.queuedWriteBytes),
            connectionMemory: ConnectionMemory(limit: limits.bufferedBytes))
        let handler = ConnectionHandler(
            desk: Desk(service: service, workers: workers, logger: Logger(label: "test")),
            scheduler: scheduler, caller: Caller(address: "local"),
            isSecured: true)
        let channel = EmbeddedChannel(handler: handler, loop: loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 4_362)).wait()
        try body(channel, handler)
        takeTurns(channel)
        var sent = ""
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) {
            sent += String(buffer: buffer)
        }
        return sent
    }
}
