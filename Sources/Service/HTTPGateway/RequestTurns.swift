import HTTPTypes
import NIOCore
import NIOHTTP1

/// What is wrong with a request that cannot be read.
package enum RequestFault: Sendable {
    /// Its head is longer than `HTTPConnectionLimits.headBytes`.
    case headTooLong
    /// It is no HTTP.
    case malformed
    /// It has no `Host`, or several (RFC 9112, 3.2).
    case hosts

    init?(_ error: any Error) {
        guard let error = error as? HTTPParserError else { return nil }
        self = error == .headerOverflow ? .headTooLong : .malformed
    }

    init?(_ head: HTTPRequestHead) {
        let hosts = head.headers["Host"].count
        guard hosts > 1 || hosts == 0 && head.version != .http1_0 else { return nil }
        self = .hosts
    }
}

/// Makes the answer to a request that cannot be read.
package typealias Refusal = @Sendable (RequestFault) -> (head: HTTPResponse, body: [UInt8])

/// Lets the requests of a connection be answered one after the other: the next one is passed on when
/// the answer to the one before has been sent.
///
/// Keeps a connection open or closes it after an answer, according to the request's HTTP version and
/// `Connection` header (RFC 9112, 9.3). Where a request cannot be read, the library's empty answer
/// gets a head and a body that say why.
final class RequestTurns: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let connection: HTTPConnection
    private let intake: RequestIntake
    private let refusal: Refusal?
    /// The request that is being read and answered.
    private var current: HTTPRequestHead?
    private var isWhole = false
    private var isAnswered = false
    /// Requests behind it that have been decoded, and what is wrong with the rest.
    private var later: CircularBuffer<HTTPServerRequestPart> = []
    private var laterError: (any Error)?
    /// Whether nothing behind the current request matters.
    private var isLast = false
    private var fault: RequestFault?

    init(_ connection: HTTPConnection, _ intake: RequestIntake, _ refusal: Refusal?) {
        (self.connection, self.intake, self.refusal) = (connection, intake, refusal)
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if current != nil, isWhole {
            guard !isLast else { return }
            later.append(unwrapInboundIn(data))
        } else {
            pass(unwrapInboundIn(data), context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if current != nil, isWhole, error is HTTPParserError {
            laterError = laterError ?? error
        } else {
            fail(error, context)
        }
    }

    private func pass(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        guard fault == nil else { return }
        switch part {
        case .head(let head):
            if let fault = RequestFault(head) {
                self.fault = fault
                return fail(HTTPParserError.unknown, context)
            }
            (current, isWhole, isAnswered, isLast) = (head, false, false, !head.isKeepAlive)
            connection.noteRequest()
            intake.expectBody(head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0)
        case .body: break
        case .end:
            isWhole = true
            connection.noteWholeRequest()
            if isLast { intake.drop() } else { intake.pause() }
        }
        context.fireChannelRead(wrapInboundOut(part))
        if isWhole, isAnswered { takeNext(context) }
    }

    private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
        fault = fault ?? RequestFault(error)
        if fault != nil { intake.drop() }
        context.fireErrorCaught(error)
    }

    /// Passes the next request on, as far as it has come.
    private func takeNext(_ context: ChannelHandlerContext) {
        (current, isWhole, isAnswered) = (nil, false, false)
        while !isWhole, let part = later.popFirst() { pass(part, context) }
        if isWhole { return context.fireChannelReadComplete() }
        if let error = laterError {
            laterError = nil
            return fail(error, context)
        }
        intake.resume()
    }

    // MARK: Answers

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        switch unwrapOutboundIn(data) {
        case .head where current == nil && fault != nil && refusal != nil:
            refuse(fault!, refusal!, context, promise)
        case .head(let head) where head.status.code < 200:
            // The answer itself is still to come.
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .head(var head):
            let goesOn = current?.isKeepAlive ?? false
            // HTTP/1.0 closes by default, so an open connection must be confirmed.
            if !goesOn || current?.version == .http1_0 {
                head.headers.replaceOrAdd(
                    name: "Connection", value: goesOn ? "keep-alive" : "close")
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body(let body):
            let sent = promise ?? context.eventLoop.makePromise()
            let bytes = body.readableBytes
            sent.futureResult.whenComplete { [connection] _ in connection.noteSent(bytes) }
            context.write(data, promise: sent)
        case .end:
            let goesOn = current?.isKeepAlive ?? false
            let sent = promise ?? context.eventLoop.makePromise()
            sent.futureResult.assumeIsolated().whenSuccess { [self] in
                end(goesOn: goesOn, context)
            }
            context.write(data, promise: sent)
            if !goesOn { context.flush() }
        }
    }

    private func refuse(
        _ fault: RequestFault, _ refusal: Refusal, _ context: ChannelHandlerContext,
        _ promise: EventLoopPromise<Void>?
    ) {
        let answer = refusal(fault)
        var headers = HTTPHeaders(answer.head.headerFields.map { ($0.name.rawName, $0.value) })
        headers.replaceOrAdd(name: "Connection", value: "close")
        headers.replaceOrAdd(name: "Content-Length", value: String(answer.body.count))
        let status = HTTPResponseStatus(statusCode: answer.head.status.code)
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: promise)
        let body = ByteBuffer(bytes: answer.body)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    }

    /// Called when an answer has been sent.
    private func end(goesOn: Bool, _ context: ChannelHandlerContext) {
        connection.noteAnswer(goesOn: goesOn)
        guard goesOn else { return context.close(mode: .output, promise: nil) }
        isAnswered = true
        if isWhole { takeNext(context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { connection.noteStop() }
        context.fireUserInboundEventTriggered(event)
    }
}
