import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOEmbedded
import Objects
import ServiceDesk
import Synchronization
import TestSupport
import Testing

@testable import HTTPGateway

/// What a connection for HTTP takes in and gives out at once.
@Suite(.timeLimit(.minutes(5))) struct RequestIntakeTests {
    /// Takes the pieces in place of a decoder, and pauses after some.
    private final class Recorder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let intake: RequestIntake
        private(set) var pieces: [Int] = []
        private(set) var hasEnded = false
        var piecesUntilPause = Int.max

        init(_ intake: RequestIntake) { self.intake = intake }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            pieces.append(unwrapInboundIn(data).readableBytes)
            if pieces.count == piecesUntilPause { intake.pause() }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case ChannelEvent.inputClosed = event { hasEnded = true }
        }
    }

    @Test func `While a request waits for its answer, what comes behind it stays as it came`()
        throws
    {
        let channel = EmbeddedChannel()
        let connection = HTTPConnection(
            channel, address: "a1", HTTPConnectionLimits(Limits()))
        let intake = RequestIntake(connection)
        let recorder = Recorder(intake)
        try channel.pipeline.syncOperations.addHandlers([intake, recorder])
        recorder.piecesUntilPause = 2
        try channel.writeInbound(ByteBuffer(repeating: 1, count: 10_000))
        #expect(recorder.pieces == [1_024, 1_024])
        #expect(connection.bufferedBytes == 10_000 - 2_048)
        try channel.writeInbound(ByteBuffer(repeating: 1, count: 5_000))
        #expect(recorder.pieces.count == 2 && connection.bufferedBytes == 15_000 - 2_048)
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        // The end comes behind everything that came before it.
        recorder.piecesUntilPause = 3
        intake.resume()
        #expect(recorder.pieces.count == 3 && !recorder.hasEnded)
        intake.expectBody(4_000)
        intake.resume()
        #expect(recorder.pieces[3] == 4_000 && recorder.pieces[4] == 1_024)
        #expect(recorder.pieces.reduce(0, +) == 15_000 && recorder.hasEnded)
        #expect(connection.bufferedBytes == 0)
        _ = try channel.finish()
    }

    /// Notes the lengths of what it is to send, and sends nothing.
    private struct Sink: ResponseBodyWriter {
        final class Written: Sendable {
            let lengths = Mutex<[Int]>([])
        }

        let written: Written

        func write(_ buffer: ByteBuffer) async throws {
            written.lengths.withLock { $0.append(buffer.readableBytes) }
        }

        func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    @Test(arguments: [false, true])
    func `A body is sent piece by piece, and counts until it is sent`(_ isShared: Bool) async throws
    {
        let channel = NIOAsyncTestingChannel()
        let connection = HTTPConnection(
            channel, address: "a1", HTTPConnectionLimits(Limits()))
        let written = Sink.Written()
        let piece = HTTPConnection.pieceBytes
        let sending = Task {
            var output: any ResponseBodyWriter = Sink(written: written)
            try await connection.send(
                [UInt8](repeating: 1, count: 9 * piece + 1), isShared: isShared, &output)
        }
        for number in 2..<10 {
            #expect(try await waited { written.lengths.withLock { $0.count } >= number })
            let lengths = written.lengths.withLock { $0 }
            #expect(lengths == Array(repeating: piece, count: number))
            #expect(connection.bufferedBytes == 2 * piece + (isShared ? 0 : 9 * piece + 1))
            connection.noteSent(piece)
        }
        try await sending.value
        #expect(written.lengths.withLock { $0.last } == 1)
        #expect(connection.bufferedBytes == piece + 1)
        connection.noteSent(piece + 1)
        #expect(connection.bufferedBytes == 0)
        _ = try await channel.finish()
    }

    @Test func `A body whose client goes away ends`() async throws {
        let channel = NIOAsyncTestingChannel()
        let connection = HTTPConnection(
            channel, address: "a1", HTTPConnectionLimits(Limits()))
        let written = Sink.Written()
        let sending = Task {
            var output: any ResponseBodyWriter = Sink(written: written)
            try await connection.send(
                [UInt8](repeating: 1, count: 1 << 20), &output)
        }
        #expect(try await waited { written.lengths.withLock { $0.count } >= 2 })
        try await channel.close()
        await #expect(throws: (any Error).self) { try await sending.value }
        #expect(written.lengths.withLock { $0.count } == 2)
    }
}
