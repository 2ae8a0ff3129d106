import HTTPTypes
import WebExchange

/// The files of the pages: those that this program contains, and Debian's Leaflet.
struct PageSite: Sendable {
    /// The files in the folder with the scripts of others.
    private let assets: AssetFiles
    private let settings: PageSettings

    /// - Parameter assets: the folder with the scripts of others.
    init(assets: String, settings: PageSettings) {
        (self.assets, self.settings) = (AssetFiles(folder: assets), settings)
    }

    func answer(_ request: WebRequest) throws(WebFailure) -> WebAnswer {
        switch request.path {
        case []: return try file("catalogue.html", request)
        case ["map"]: return try file("map.html", request)
        case ["login"]: return try file("login.html", request, taking: [.get, .head, .post])
        case ["map", "settings.json"]:
            try request.check(methods: [.get, .head])
            return settings.answer
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
        guard let file = PageFile.embedded[name] else { throw .notFound }
        return answer(name, file, request)
    }

    /// A file of a package of others, below the folder of scripts.
    private func asset(
        _ path: ArraySlice<String>, _ request: WebRequest
    ) throws(WebFailure) -> WebAnswer {
        try request.check(methods: [.get, .head])
        let isPlain = path.allSatisfy { name in
            !name.hasPrefix(".") && name.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "/") }
        }
        guard isPlain, let name = path.last, let file = assets[path.joined(separator: "/")] else {
            throw WebFailure(
                .notFound, "NOT_FOUND",
                "there is no such file; the map needs Debian's package libjs-leaflet, or "
                    + "--web-assets has to name the folder of its scripts")
        }
        return answer(name, file, request)
    }

    private func answer(
        _ name: String, _ file: PageFile, _ request: WebRequest
    ) -> WebAnswer {
        var answer = WebAnswer(Self.type(of: name), file.bytes)
        answer.isShared = true
        answer.gzip = { file.gzip }
        return answer.marked(file.tag, for: request, caching: "no-cache")
    }

    private static func type(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "json", "map": "application/json"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        case "gz": "application/gzip"
        default: "application/octet-stream"
        }
    }
}
