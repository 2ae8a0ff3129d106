import HTTPTypes
import Runtime
import WebExchange

/// Answers with the archive of the base map, or with a part of it.
struct BasemapSite: Sendable {
    private let archive: TileArchive

    /// Nil without an archive.
    init?(_ basemap: Basemap?) {
        guard let archive = basemap?.archive else { return nil }
        self.archive = archive
    }

    /// The path below the port.
    static let path = ["map", "basemap.pmtiles"]

    /// What is read and sent at once; bytes.
    private static let pieceBytes = 262_144

    /// The tag of the file as it is now; nil if it cannot be read.
    var tag: String? { try? archive.open().tag }

    func answer(_ request: WebRequest) throws(WebFailure) -> WebAnswer {
        try request.check(methods: [.get, .head])
        guard let file = try? archive.open(), request["tag"] ?? file.tag == file.tag else {
            throw WebFailure(
                .notFound, "NOT_FOUND",
                "the file of the base map has been replaced, or cannot be read; load the page again"
            )
        }
        // A request that names the tag gets these bytes for ever.
        let isFixed = request["tag"] != nil
        let headers: HTTPFields = [
            .eTag: "\"\(file.tag)\"", .acceptRanges: "bytes",
            .cacheControl: isFixed ? "private, max-age=31536000, immutable" : "no-cache",
        ]
        if request.knows(tag: file.tag) { return WebAnswer(.notModified, headers: headers) }
        let isCurrent = request.headers[.ifRange].map { $0 == "\"\(file.tag)\"" } ?? true
        let range = isCurrent ? ByteRange(request.headers[.range], of: file.size) : .whole
        var answer: WebAnswer
        switch range {
        case .whole: answer = Self.answer(with: 0..<file.size, of: file, .ok)
        case .part(let part):
            answer = Self.answer(with: part, of: file, .partialContent)
            answer.headers[.contentRange] =
                "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(file.size)"
        case .none:
            var failure = WebFailure(
                .rangeNotSatisfiable, "INVALID_INPUT_DATA",
                "expected one range of bytes within the file", at: "Range")
            failure.headers[.contentRange] = "bytes */\(file.size)"
            throw failure
        }
        for field in headers { answer.headers.append(field) }
        return answer
    }

    private static func answer(
        with part: Range<Int>, of file: OpenTileArchive, _ status: HTTPResponse.Status
    ) -> WebAnswer {
        let headers: HTTPFields = [
            .contentType: "application/vnd.pmtiles", .contentLength: "\(part.count)",
        ]
        let body = WebAnswer.Body.streamed { writer in
            for start in stride(from: part.lowerBound, to: part.upperBound, by: pieceBytes) {
                let piece = start..<min(start + pieceBytes, part.upperBound)
                let bytes = try await blocking("basemap") { try file.read(piece) }
                guard bytes.count == piece.count else {
                    throw Basemap.Fault("it has become shorter")
                }
                try await writer.write(bytes)
            }
        }
        return WebAnswer(status, headers: headers, body: body)
    }
}
