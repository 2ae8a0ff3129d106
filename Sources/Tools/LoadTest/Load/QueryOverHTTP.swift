import JSONText
import NIOCore
import NIOHTTP1

/// Carries a connection's queries over HTTP/1.1: each body becomes a request, and each answer is told
/// as a line of the protocol without its results.
final class QueryOverHTTP: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = HTTPClientRequestPart

    private static let success = Array(#"{"jsonrpc":"2.0","id":1,"result":{}}"#.utf8) + [0x0A]

    private let head: HTTPRequestHead
    private var status = HTTPResponseStatus.ok
    private var body: [UInt8] = []

    init(_ target: Target, _ web: WebQueries) {
        var headers: HTTPHeaders = [
            "Host": target.authority, "Content-Type": "application/vnd.kii.QueryRequest+json",
            "X-Kii-AppID": web.app,
        ]
        if let key = web.key { headers.add(name: "X-Kii-AppKey", value: key) }
        if let token = target.token {
            headers.add(name: "Authorization", value: "Bearer \(token)")
        }
        head = HTTPRequestHead(version: .http1_1, method: .POST, uri: web.path, headers: headers)
    }

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        let body = unwrapOutboundIn(data)
        var head = head
        head.headers.add(name: "Content-Length", value: String(body.readableBytes))
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.write(wrapOutboundOut(.end(nil)), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            status = head.status
            body.removeAll(keepingCapacity: true)
        case .body(let part): body += part.readableBytesView
        case .end:
            let line = Self.error(status, body).map(Self.line) ?? Self.success
            context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: line)))
        }
    }

    /// The error's code, or nil for a page of results.
    static func error(_ status: HTTPResponseStatus, _ body: [UInt8]) -> String? {
        let answer = try? JSONParser.reading(body) { answer in
            (isPage: answer["results"]?.kind == .array, code: answer["errorCode"]?.string)
        }
        guard status == .ok else { return answer?.code ?? "HTTP_\(status.code)" }
        return answer?.isPage == true ? nil : OwnError.malformed
    }

    private static func line(of error: String) -> [UInt8] {
        var line = JSONWriter()
        line.raw(#"{"jsonrpc":"2.0","id":1,"error":{"data":{"errorCode":"#)
        line.string(error)
        line.raw("}}}\n")
        return line.bytes
    }
}
