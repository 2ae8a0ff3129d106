import HTTPGateway
import HTTPTypes
import Synchronization
import WebExchange

/// How the body of an answer is encoded on its way: in gzip, where the client accepts it and it pays.
enum AnswerEncoding {
    case plain, gzip

    /// Nil for an answer that is never compressed.
    init?(of answer: WebAnswer, for request: HTTPRequest) {
        guard let type = answer.headers[.contentType], Self.isText(type) else { return nil }
        let isLong = answer.bytes.map { $0.count >= Self.fewBytes } ?? true
        let pays = isLong && request.method != .head && Self.acceptsGzip(request.headerFields)
        self = pays ? .gzip : .plain
    }

    /// A shorter body fits one packet either way.
    private static let fewBytes = 1_024

    /// Whether a media type is text, or packed as loosely, and no stream of events.
    private static func isText(_ type: String) -> Bool {
        let name = type.prefix { $0 != ";" }
        return name.hasPrefix("text/") && name != "text/event-stream" || name.hasSuffix("json")
            || ["image/svg+xml", "application/vnd.mapbox-vector-tile"].contains(name)
    }

    /// Whether `Accept-Encoding` names gzip, or everything, and does not refuse it.
    static func acceptsGzip(_ headers: HTTPFields) -> Bool {
        var accepted: [String: Bool] = [:]
        for coding in headers[values: .acceptEncoding].flatMap({ $0.utf8.split(separator: 0x2C) }) {
            let parts = Substring(coding).split(separator: ";").map(\.trimmed)
            guard let name = parts.first?.lowercased() else { continue }
            let weight = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }
            accepted[name] = weight.flatMap { Double($0.dropFirst(2)) } != 0
        }
        return accepted["gzip"] ?? accepted["x-gzip"] ?? accepted["*"] ?? false
    }

    /// Encodes the body, and says so.
    func apply(to answer: inout WebAnswer) {
        answer.headers.append(HTTPField(name: .vary, value: "Accept-Encoding"))
        guard self == .gzip else { return }
        answer.headers[.contentEncoding] = "gzip"
        // A tag that answers are kept by stands for both forms, so it is a weak one. Others are versions
        // of objects.
        if let tag = answer.headers[.eTag], answer.headers[.cacheControl] != nil {
            answer.headers[.eTag] = "W/" + tag
        }
        if let kept = answer.gzip {
            answer.body = .whole(kept())
        } else if let bytes = answer.bytes, bytes.count <= HTTPConnection.pieceBytes {
            answer.body = .whole(Gzip.compressed(bytes))
        } else {
            let body = answer.body
            answer.body = .streamed { output in
                let packed = GzipBody(output)
                switch body {
                case .whole(let bytes): try await packed.write(bytes)
                case .streamed(let write): try await write(packed)
                }
                try await packed.end()
            }
        }
    }
}

/// Compresses the pieces of a body on their way, a little at a time.
private final class GzipBody: WebBodyWriter {
    private let output: any WebBodyWriter
    private let gzip = Mutex(Gzip())

    init(_ output: any WebBodyWriter) { self.output = output }

    func write(_ piece: [UInt8]) async throws {
        for start in stride(from: 0, to: piece.count, by: HTTPConnection.pieceBytes) {
            let part = piece[start..<min(start + HTTPConnection.pieceBytes, piece.count)]
            try await output.write(gzip.withLock { $0.compress(part) })
        }
    }

    func end() async throws { try await output.write(gzip.withLock { $0.end() }) }
}
