import CWebFiles
import Digests
import Glibc
import HTTPTypes
import Operations
import WebExchange

/// The files of the pages: those that this program contains, and Debian's Leaflet.
struct PageSite: Sendable {
    /// The folder with the scripts of others.
    let assets: String

    /// The largest file of others that is served.
    private static let assetBytes = 4 * 1_048_576

    func answer(_ request: WebRequest) throws(WebFailure) -> WebAnswer {
        switch request.path {
        case []:
            try request.check(methods: [.get, .head])
            return WebAnswer(.found, headers: [.location: "map"])
        case ["map"]: return try file("map.html", request)
        case ["login"]: return try file("login.html", request, taking: [.get, .head, .post])
        case let path where path.count == 2 && path[0] == "map": return try file(path[1], request)
        case let path where path.count > 2 && path[..<2] == ["assets", "leaflet"]:
            return try asset(path[1...], request)
        default: throw .notFound
        }
    }

    private func file(
        _ name: String, _ request: WebRequest, taking methods: [HTTPRequest.Method] = [.get, .head]
    ) throws(WebFailure) -> WebAnswer {
        try request.check(methods: methods)
        guard let file = EmbeddedFile.all[name] else { throw .notFound }
        return try answer(name, file.bytes, tag: file.tag, request)
    }

    /// A file of a package of others, below the folder of scripts.
    private func asset(
        _ path: ArraySlice<String>, _ request: WebRequest
    ) throws(WebFailure) -> WebAnswer {
        try request.check(methods: [.get, .head])
        let isPlain = path.allSatisfy { name in
            !name.hasPrefix(".") && name.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "/") }
        }
        guard isPlain, let name = path.last,
            let file = try? TrustedFile(
                path: assets + "/" + path.joined(separator: "/"), maximumBytes: Self.assetBytes)
        else {
            throw WebFailure(
                .notFound, "NOT_FOUND",
                "there is no such file; the map needs Debian's package libjs-leaflet, or "
                    + "--web-assets has to name the folder of its scripts")
        }
        return try answer(name, file.bytes, tag: EmbeddedFile.tag(of: file.bytes), request)
    }

    private func answer(
        _ name: String, _ bytes: [UInt8], tag: String, _ request: WebRequest
    ) throws(WebFailure) -> WebAnswer {
        let headers: HTTPFields = [.cacheControl: "no-cache", .eTag: "\"\(tag)\""]
        if request.knows(tag: tag) { return WebAnswer(.notModified, headers: headers) }
        var answer = WebAnswer(Self.type(of: name), bytes)
        for field in headers { answer.headers.append(field) }
        return answer
    }

    private static func type(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "json", "map": "application/json"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        default: "application/octet-stream"
        }
    }
}

/// A file of the pages that is part of the program.
private struct EmbeddedFile {
    let bytes: [UInt8]
    let tag: String

    static let all: [String: EmbeddedFile] = {
        let files = UnsafeBufferPointer(start: web_files(), count: web_file_count())
        let pairs = files.map { file in
            let bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
            return (String(cString: file.name), EmbeddedFile(bytes: bytes, tag: tag(of: bytes)))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }()

    static func tag(of bytes: [UInt8]) -> String {
        let digits = SHA256.digest(of: bytes).prefix(8).map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }
        return digits.joined()
    }
}
