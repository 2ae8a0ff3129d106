import Glibc
import JSONText
import NIOCore
import SyntheticData

/// A connection with at most one request in progress, and with watches.
///
/// It reads only the part of an answer that distinguishes an error from a result; of writes also what
/// they made, if there are watches that should tell it.
final class LoadConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// The request in progress.
    struct Request {
        var kind: RequestKind
        /// When it should have been sent, in nanoseconds.
        var due: UInt64
    }

    /// A watch of the connection.
    struct Watch {
        /// Its name, as JSON.
        var name: [UInt8]
        var center: MicroPoint
    }

    /// The observer of a connection.
    protocol Owner: AnyObject {
        func answered(_ connection: LoadConnection, error: String?)
        /// A write was answered that watches should tell.
        func wrote(_ version: EventDelays.Version)
        func told(_ notice: Notice, on connection: LoadConnection)
        func ended(_ connection: LoadConnection)
    }

    var request: Request?
    /// When the previous answer came, in nanoseconds.
    var freeSince: UInt64 = 0
    /// Kept until it has been notified of the connection's end.
    private let owner: any Owner
    private let parser: JSONParser
    private(set) var isOpen = true
    private var context: ChannelHandlerContext?
    private(set) var watches: [Watch] = []
    /// Watches that the connection starts before it is ready, with their requests.
    private let starts: [(center: MicroPoint, line: [UInt8])]
    private var received: ByteBuffer?
    /// How many bytes of `received` have no line break.
    private var scanned = 0
    /// The first request.
    private let greeting: [UInt8]
    /// The outcome of the first exchange, and of the start of watches.
    private var ready: EventLoopPromise<Void>?
    private var failure: (any Error)?

    /// - Parameter parser: what the connections of an event loop share.
    init(
        owner: any Owner, parser: JSONParser, greeting: [UInt8],
        starts: [(center: MicroPoint, line: [UInt8])], ready: EventLoopPromise<Void>
    ) {
        self.owner = owner
        self.parser = parser
        self.greeting = greeting
        self.starts = starts
        self.ready = ready
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
        line.raw(greeting)
        write(line)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if received == nil { received = bytes } else { received!.writeBuffer(&bytes) }
        while let length = lineLength() {
            let line = received!.readSlice(length: length)!
            received!.moveReaderIndex(forwardBy: 1)
            take(line)
        }
        if received?.readableBytes == 0 { received = nil }
    }

    /// The length of the first line, if it is complete.
    private func lineLength() -> Int? {
        guard let received else { return nil }
        let length = received.withUnsafeReadableBytes { bytes -> Int? in
            guard bytes.count > scanned else { return nil }
            let from = bytes.baseAddress! + scanned
            return memchr(from, 0x0A, bytes.count - scanned).map {
                bytes.baseAddress!.distance(to: $0)
            }
        }
        scanned = length == nil ? received.readableBytes : 0
        return length
    }

    private func take(_ line: ByteBuffer) {
        if !starts.isEmpty, let notice = Notice(line, parser) {
            return owner.told(notice, on: self)
        }
        let error = Answer.error(in: line, parser)
        guard ready != nil else {
            if error == nil, !starts.isEmpty, request?.kind.isWrite == true,
                let version = Answer.version(in: line, parser)
            {
                owner.wrote(version)
            }
            return owner.answered(self, error: error)
        }
        greeted(line, error)
    }

    // MARK: Before the load

    private var isLoggedIn = false

    private func greeted(_ line: ByteBuffer, _ error: String?) {
        if let error {
            let what = isLoggedIn ? "a watch" : "a connection"
            failure = LoadFailure("the service refuses \(what): \(error)")
            context?.close(promise: nil)
            return
        }
        if isLoggedIn, let name = Answer.watch(in: line, parser) {
            watches.append(Watch(name: name, center: starts[watches.count].center))
        } else if !isLoggedIn {
            isLoggedIn = true
            var lines = JSONWriter()
            for start in starts { lines.raw(start.line) }
            // Over HTTP, nothing would be a request with an empty body.
            if lines.count > 0 { write(lines) }
        }
        guard watches.count == starts.count else { return }
        ready?.succeed()
        ready = nil
    }

    /// Moves the centre of a watch.
    func moveWatch(_ number: Int, to center: MicroPoint) { watches[number].center = center }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        failure = error
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        isOpen = false
        guard let ready else { return owner.ended(self) }
        self.ready = nil
        ready.fail(failure ?? LoadFailure("the service closed a connection"))
    }
}

/// Reads the parts of an answer line that matter.
enum Answer {
    private static let head = #"{"jsonrpc":"2.0","id":1,""#.utf8.count
    private static let resultStart = UInt8(ascii: "r")

    /// The error's code, or nil for a result.
    static func error(in line: ByteBuffer, _ parser: JSONParser) -> String? {
        if line.getInteger(at: line.readerIndex + head) == resultStart { return nil }
        return line.reading(with: parser) { $0["error"]?["data"]?["errorCode"]?.string }
            ?? OwnError.malformed
    }

    /// What a write made; nil if the answer does not say.
    static func version(in line: ByteBuffer, _ parser: JSONParser) -> EventDelays.Version? {
        line.reading(with: parser) { $0["result"].flatMap { EventDelays.Version($0) } }
    }

    /// The name of a watch that was started, as JSON.
    static func watch(in line: ByteBuffer, _ parser: JSONParser) -> [UInt8]? {
        line.reading(with: parser) { $0["result"]?["watch"].map { Array($0.text) } }
    }
}
