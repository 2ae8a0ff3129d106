import JSONText
import NIOCore

/// A connection with at most one request in progress.
///
/// It reads only the part of an answer that distinguishes an error from a result.
final class LoadConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// The request in progress.
    struct Request {
        var kind: RequestKind
        /// When it should have been sent, in nanoseconds.
        var due: UInt64
    }

    /// The observer of a connection.
    protocol Owner: AnyObject {
        func answered(_ connection: LoadConnection, error: String?)
        func ended(_ connection: LoadConnection)
    }

    var request: Request?
    /// When the previous answer came, in nanoseconds.
    var freeSince: UInt64 = 0
    /// Kept until it has been notified of the connection's end.
    private let owner: any Owner
    private(set) var isOpen = true
    private var context: ChannelHandlerContext?
    private var received: ByteBuffer?
    /// The outcome of the first exchange: the login, or a ping if no login is needed.
    private var greeting: EventLoopPromise<Void>?
    private let token: String?
    private var failure: (any Error)?

    init(owner: any Owner, token: String?, ready: EventLoopPromise<Void>) {
        self.owner = owner
        self.token = token
        greeting = ready
    }

    func send(_ request: Request, _ line: borrowing JSONWriter) {
        self.request = request
        write(line)
    }

    /// Closes the connection, which notifies the owner.
    func close() { context?.close(promise: nil) }

    private func write(_ line: borrowing JSONWriter) {
        guard let context else { return }
        var buffer = context.channel.allocator.buffer(capacity: line.count)
        line.withBytes { _ = buffer.writeBytes(UnsafeRawBufferPointer($0)) }
        context.writeAndFlush(NIOAny(buffer), promise: nil)
    }

    // MARK: The channel

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        var line = JSONWriter()
        line.raw(#"{"jsonrpc":"2.0","id":1,"method":"#)
        if let token {
            line.raw(#""auth.login","params":{"token":"#)
            line.string(token)
            line.raw("}}\n")
        } else {
            line.raw("\"server.ping\"}\n")
        }
        write(line)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if received == nil { received = bytes } else { received!.writeBuffer(&bytes) }
        let answer = received!
        // Only one request is in progress, so a line break ends its answer.
        guard answer.getInteger(at: answer.writerIndex - 1) == UInt8(ascii: "\n") else { return }
        received = nil
        let error = Answer.error(in: answer)
        guard let greeting else { return owner.answered(self, error: error) }
        if let error {
            failure = LoadFailure("the service refuses a connection: \(error)")
            context.close(promise: nil)
        } else {
            self.greeting = nil
            greeting.succeed()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        failure = error
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        isOpen = false
        guard let greeting else { return owner.ended(self) }
        self.greeting = nil
        greeting.fail(failure ?? LoadFailure("the service closed a connection"))
    }
}

/// Reads the part of an answer line that matters.
enum Answer {
    private static let head = #"{"jsonrpc":"2.0","id":1,""#.utf8.count
    private static let resultStart = UInt8(ascii: "r")

    /// The error's code, or nil for a result.
    static func error(in line: ByteBuffer) -> String? {
        if line.getInteger(at: line.readerIndex + head) == resultStart { return nil }
        let code = try? JSONParser.reading(Array(line.readableBytesView)) { answer in
            answer["error"]?["data"]?["errorCode"]?.string
        }
        return (code ?? nil) ?? OwnError.malformed
    }
}
