import ArgumentParser
import Foundation
import NIOCore
import NIOPosix
import SyntheticData
import Workloads

/// `benchmark echo`: a line server that answers `N anything` with a line of N bytes.
///
/// The least that a server of GeoBucket's kind (SwiftNIO, one event loop) can cost: what it reads
/// it does not look at, and what it writes lies ready.
struct Echo: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve lines of the length that is asked for; a limit to compare with.",
        shouldDisplay: false)

    @Option var port: Int

    func run() throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let listener = try ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1_024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(EchoHandler())
                }
            }
            .bind(host: "127.0.0.1", port: port).wait()
        try listener.closeFuture.wait()
    }
}

private final class EchoHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var received = ByteBuffer()
    /// As long as the longest line asked for so far; every answer is a slice of its end.
    private var line = ByteBuffer(string: "\n")

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var data = unwrapInboundIn(data)
        received.writeBuffer(&data)
        while let end = received.readableBytesView.firstIndex(of: 0x0A) {
            let view = received.readableBytesView
            let digits = view.prefix { $0 >= 0x30 && $0 <= 0x39 }
            let length = max(1, digits.reduce(0) { $0 * 10 + Int($1 - 0x30) })
            received.moveReaderIndex(to: end + 1)
            context.write(wrapOutboundOut(answer(length)), promise: nil)
        }
        received.discardReadBytes()
    }

    func channelReadComplete(context: ChannelHandlerContext) { context.flush() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func answer(_ length: Int) -> ByteBuffer {
        if line.readableBytes < length {
            line = ByteBuffer(repeating: UInt8(ascii: "x"), count: length - 1)
            line.writeString("\n")
        }
        return line.getSlice(at: line.writerIndex - length, length: length)!
    }
}

/// The echo server as a process of its own.
final class EchoServer: Server {
    let name = "echo"
    let version = "SwiftNIO, as GeoBucket"
    let framing = Framing.line
    let port: Int
    private(set) var process: ChildProcess?

    init(_ workspace: Workspace) throws {
        port = try freePort()
        process = try ChildProcess(
            [Bundle.main.executablePath!, "echo", "--port", "\(port)"],
            log: workspace.folder + "/echo.log")
        _ = try connectPatiently()
    }

    func load(_ dataset: Dataset) -> LoadFacts { LoadFacts() }
}

/// What the echo server is asked: lines as long as GeoBucket's answers, by requests as long as its.
enum EchoPeer {
    static let title = "echo of as many bytes"

    static func request(_ request: [UInt8], answerBytes: Int) -> [UInt8] {
        let digits = Array("\(answerBytes) ".utf8)
        return digits + request.dropFirst(min(digits.count, request.count - 1))
    }
}
