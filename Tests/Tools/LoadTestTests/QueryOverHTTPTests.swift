import JSONText
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import LoadTest

/// Queries on their way over HTTP, and what becomes of their answers.
@Suite struct QueryOverHTTPTests {
    private static func target(
        host: String = "::1", token: String? = nil, key: String? = nil, bucket: String = "b1"
    ) -> Target {
        var target = Target(host: host, port: 4364, token: token)
        target.web = WebQueries(app: "myapp", key: key, bucket: bucket)
        return target
    }

    /// The request that carries a body.
    private static func request(_ target: Target, _ body: String) throws -> String {
        let channel = EmbeddedChannel()
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHTTPClientHandlers()
        try pipeline.addHandler(QueryOverHTTP(target, target.web!))
        channel.write(ByteBuffer(string: body), promise: nil)
        channel.flush()
        var text = ""
        while let part = try channel.readOutbound(as: ByteBuffer.self) {
            text += String(buffer: part)
        }
        _ = try channel.finish(acceptAlreadyClosed: true)
        return text
    }

    /// The lines that answers are told as, however they are cut.
    private static func lines(_ answers: String, pieceBytes: Int) throws -> [String] {
        let channel = EmbeddedChannel()
        let pipeline = channel.pipeline.syncOperations
        let target = target()
        try pipeline.addHTTPClientHandlers()
        try pipeline.addHandler(QueryOverHTTP(target, target.web!))
        var lines: [String] = []
        var rest = ByteBuffer(string: answers)
        // A client reads answers only to what it has asked.
        for _ in answers.ranges(of: "HTTP/1.1") {
            channel.write(ByteBuffer(string: "{}"), promise: nil)
        }
        while let piece = rest.readSlice(length: min(pieceBytes, rest.readableBytes)),
            piece.readableBytes > 0
        {
            try channel.writeInbound(piece)
        }
        while let line = try channel.readInbound(as: ByteBuffer.self) {
            lines.append(String(buffer: line))
        }
        _ = try? channel.finish(acceptAlreadyClosed: true)
        return lines
    }

    @Test func `A request names the application, and who sends it`() throws {
        let plain = try Self.request(Self.target(), "{}")
        #expect(plain.hasPrefix("POST /api/apps/myapp/buckets/b1/query HTTP/1.1\r\n"))
        #expect(plain.hasSuffix("Content-Length: 2\r\n\r\n{}"))
        #expect(plain.contains("Host: [::1]:4364\r\n"))
        #expect(!plain.contains("X-Kii-AppKey") && !plain.contains("Authorization"))
        let known = try Self.request(
            Self.target(token: "t1", key: "k1", bucket: "users/alice/notes"), "{}")
        #expect(known.hasPrefix("POST /api/apps/myapp/users/alice/buckets/notes/query HTTP/1.1"))
        #expect(known.contains("X-Kii-AppKey: k1\r\n"))
        #expect(known.contains("Authorization: Bearer t1\r\n"))
    }

    @Test(arguments: [1, 7, 10_000])
    func `An answer is a line, of a result if it is a page`(pieceBytes: Int) throws {
        func answer(_ status: String, _ body: String) -> String {
            "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
        let bodies = [
            answer("200 OK", #"{"queryDescription":"","results":[]}"#),
            answer("404 Not Found", #"{"errorCode":"APP_NOT_FOUND"}"#),
            answer("502 Bad Gateway", "<html>"), answer("200 OK", "{}"),
            answer("200 OK", #"{"results":[]"#),
        ]
        let lines = try Self.lines(bodies.joined(), pieceBytes: pieceBytes)
        let errors = lines.map { line -> String? in
            var line = ByteBuffer(string: line)
            line.moveWriterIndex(to: line.writerIndex - 1)
            return Answer.error(in: line, JSONParser())
        }
        #expect(
            errors == [nil, "APP_NOT_FOUND", "HTTP_502", OwnError.malformed, OwnError.malformed])
        #expect(lines.allSatisfy { $0.hasSuffix("}\n") })
    }
}
