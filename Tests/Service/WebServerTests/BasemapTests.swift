import Foundation
import ServiceDesk
import TestSupport
import Testing

@testable import WebServer

/// The map under the objects on the map page: what the page may load, and the archive that it reads.
@Suite(.timeLimit(.minutes(5))) struct BasemapTests {
    private static let plainPolicy =
        "default-src 'self'; img-src 'self' data:; style-src 'self'; object-src 'none'; "
        + "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

    /// The header of an archive with vector tiles to level 9, and `text` behind it.
    private static func archive(
        _ text: String, version: UInt8 = 3, directories: UInt8 = 2, tiles: UInt8 = 1,
        type: UInt8 = 1
    ) -> Data {
        var bytes = [UInt8]("PMTiles".utf8) + [version]
        bytes += [UInt8](repeating: 0, count: 127 - bytes.count)
        (bytes[97], bytes[98], bytes[99], bytes[101]) = (directories, tiles, type, 9)
        return Data(bytes + text.utf8)
    }

    private static func settings(_ basemap: Basemap) -> WebPort.Settings {
        var settings = Web.open
        settings.basemap = basemap
        settings.linePort = LinePort()
        return settings
    }

    @Test(arguments: [
        (
            "https://tile.example.org/{z}/{x}/{y}.png", "img-src",
            "img-src 'self' data: https://tile.example.org; style-src"
        ),
        (
            "http://127.0.0.1:8080/{z}/{x}/{-y}.png?key=a;b'c", "img-src",
            "img-src 'self' data: http://127.0.0.1:8080; style-src"
        ),
        (
            "https://{s}.tile.example.org/{z}/{x}/{y}{r}.jpg", "img-src",
            "img-src 'self' data: https://*.tile.example.org; style-src"
        ),
        (
            "https://t{s}.example.org/{z}/{x}/{y}.png", "img-src",
            "img-src 'self' data: https://*.example.org; style-src"
        ),
        (
            "https://tiles.example.org/v/{z}/{x}/{y}.mvt", "connect-src",
            "img-src 'self' data:; connect-src 'self' https://tiles.example.org; style-src"
        ),
        (
            "https://[::1]:8443/{z}/{x}/{y}.pbf?key=1", "connect-src",
            "img-src 'self' data:; connect-src 'self' https://[::1]:8443; style-src"
        ),
    ])
    func `A page may load the tiles of its base map from their server, and nothing else from there`(
        _ template: String, _ directive: String, _ policy: String
    ) async throws {
        let settings = Self.settings(try Basemap(template: template, attribution: nil))
        try await TestService.with(web: settings) { service in
            for path in ["/map", "/login", "/rpc"] {
                let answer = try await Web.get(service.webPort, path)
                let found = try #require(answer.field("content-security-policy"))
                #expect(found.contains(policy), "\(found)")
                let plain = found.replacingOccurrences(
                    of: policy, with: "img-src 'self' data:; style-src")
                #expect(plain == Self.plainPolicy, "\(directive)")
            }
        }
    }

    @Test func `Without a base map of a server the policy names nobody else`() async throws {
        try await withTemporaryFolder { folder in
            try Self.archive("").write(to: URL(fileURLWithPath: folder + "/map.pmtiles"))
            let archive = try Basemap(archive: folder + "/map.pmtiles", attribution: nil)
            for settings in [Web.open, Self.settings(archive)] {
                try await TestService.with(web: settings) { service in
                    let map = try await Web.get(service.webPort, "/map")
                    #expect(map.field("content-security-policy") == Self.plainPolicy)
                }
            }
        }
    }

    @Test(arguments: [
        ("ftp://h/{z}/{x}/{y}", "neither https:// nor http://"),
        ("https:///{z}/{x}/{y}", "is no HOST"),
        ("https://a b/{z}/{x}/{y}", "\"a b\" is no HOST"),
        ("https://h;script-src */{z}/{x}/{y}", "is no HOST"),
        ("https://h' 'unsafe-inline/{z}/{x}/{y}", "is no HOST"),
        ("https://me:secret@h/{z}/{x}/{y}", "is no HOST"),
        ("https://{s}/{z}/{x}/{y}", "is no HOST"),
        ("https://tile.{s}.example.org/{z}/{x}/{y}", "first label"),
        ("https://{s}x/{z}/{x}/{y}", "first label"),
        ("https://h/{z}/{x}.png", "either {y} or {-y}"),
        ("https://h/{z}/{x}/{y}/{-y}.png", "either {y} or {-y}"),
        ("https://h/{x}/{y}.png", "has no {z}"), ("https://h/{z}/{y}.png", "has no {x}"),
        ("https://h/{z}/{x}/{y}.png?key={key}", "{key} is none of"),
        ("https://h/{z}/{x}/{y", "{y is none of"),
    ])
    func `What is no address of tiles is refused, and says what it lacks`(
        _ template: String, _ words: String
    ) {
        let fault = #expect(throws: Basemap.Fault.self) {
            _ = try Basemap(template: template, attribution: nil)
        }
        #expect(fault?.description.contains(words) == true, "\(fault?.description ?? "accepted")")
    }

    @Test func `The page is told the address of the tiles, how deep they go, and whose they are`()
        async throws
    {
        let template = "https://h/{z}/{x}/{y}.png"
        for (basemap, text) in [
            (
                try Basemap(template: template, attribution: "© \"O\""),
                #"{"kind":"raster","url":"\#(template)","deepest":19,"attribution":"© \"O\""}"#
            ),
            (
                try Basemap(template: template + ".mvt", attribution: nil, deepest: 6),
                #"{"kind":"vector","url":"\#(template).mvt","deepest":6}"#
            ),
            (
                try Basemap(template: template + ".pbf", attribution: nil),
                #"{"kind":"vector","url":"\#(template).pbf","deepest":14}"#
            ),
        ] {
            try await TestService.with(web: Self.settings(basemap)) { service in
                let answer = try await Web.get(service.webPort, "/map/settings.json")
                #expect(
                    answer.body == #"{"isLineEncrypted":false,"hasGIS":true,"basemap":\#(text)}"#)
                let archive = try await Web.get(service.webPort, "/map/basemap.pmtiles")
                #expect(archive.status == 404)
            }
        }
    }

    // MARK: The archive

    @Test(arguments: [
        (archive("", version: 2), "version 2"), (Data("PMTiles".utf8), "no PMTiles archive"),
        (Data(count: 200), "no PMTiles archive"), (Data(), "no PMTiles archive"),
        (archive("", directories: 3), "its directories is brotli"),
        (archive("", directories: 0), "its directories is unknown"),
        (archive("", tiles: 4), "its tiles is zstd"), (archive("", tiles: 99), "its tiles is 99"),
        (archive("", type: 0), "type 0"), (archive("", type: 6), "type 6"),
    ])
    func `A file that the page cannot show is refused`(_ data: Data, _ words: String) async throws {
        try await withTemporaryFolder { folder in
            try data.write(to: URL(fileURLWithPath: folder + "/map.pmtiles"))
            let fault = #expect(throws: Basemap.Fault.self) {
                _ = try Basemap(archive: folder + "/map.pmtiles", attribution: nil)
            }
            #expect(fault?.description.contains(words) == true, "\(fault?.description ?? "")")
        }
    }

    @Test func `What is no file is refused`() async throws {
        try await withTemporaryFolder { folder in
            #expect(mkfifo(folder + "/pipe", 0o600) == 0)
            for (path, words) in [
                ("/none", "No such file"), ("", "no regular file"), ("/pipe", "no regular file"),
            ] {
                let fault = #expect(throws: Basemap.Fault.self) {
                    _ = try Basemap(archive: folder + path, attribution: nil)
                }
                #expect(fault?.description.contains(words) == true, "\(path)")
            }
        }
    }

    /// A service whose base map is an archive with some text.
    private static func serving(
        _ text: String,
        _ body:
            @escaping @Sendable (
                TestService, _ whole: String, _ path: String
            ) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/map.pmtiles"
            let data = archive(text)
            try data.write(to: URL(fileURLWithPath: path))
            let basemap = try Basemap(archive: path, attribution: "Ours")
            try await TestService.with(web: settings(basemap)) { service in
                try await body(service, String(decoding: data, as: UTF8.self), path)
            }
        }
    }

    @Test func `An archive is answered whole or in part`() async throws {
        let text = String(repeating: "0123456789", count: 60_000)
        try await Self.serving(text) { service, whole, _ in
            func part(_ range: String, method: String = "GET") async throws -> HTTPAnswer {
                try await onBlockingThreads {
                    try HTTPAnswer(
                        port: service.webPort, path: "/map/basemap.pmtiles", method: method,
                        headers: range.isEmpty ? [] : ["Range: \(range)"])
                }
            }
            let size = whole.utf8.count
            for (range, first, last) in [
                ("bytes=0-126", 0, 126), ("bytes=127-127", 127, 127),
                ("bytes=-10", size - 10, size - 1),
                ("bytes=\(size - 5)-", size - 5, size - 1),
                ("bytes=500000-99999999", 500_000, size - 1),
                ("bytes=100-400000", 100, 400_000), ("Bytes=0-0", 0, 0),
            ] {
                let answer = try await part(range)
                #expect(answer.status == 206, "\(range)")
                #expect(answer.field("content-range") == "bytes \(first)-\(last)/\(size)")
                #expect(answer.field("content-length") == "\(last - first + 1)")
                #expect(
                    Array(answer.body.utf8) == Array(Array(whole.utf8)[first...last]), "\(range)")
            }
            for range in ["", "lines=1-2"] {
                let answer = try await part(range)
                #expect(answer.status == 200)
                #expect(answer.field("accept-ranges") == "bytes")
                #expect(answer.field("content-type") == "application/vnd.pmtiles")
                #expect(answer.field("content-length") == "\(size)")
                #expect(answer.body == whole)
            }
            let head = try await part("bytes=0-9", method: "HEAD")
            #expect(head.status == 206 && head.body.isEmpty)
            #expect(head.field("content-length") == "10")
            for range in [
                "bytes=\(size)-", "bytes=5-4", "bytes=0-1,5-6", "bytes=", "bytes=-", "bytes=-0",
                "bytes=a-b", "bytes=1", "bytes=--1", "bytes=+1-2", "bytes=99999999999999999999-",
            ] {
                let answer = try await part(range)
                #expect(answer.status == 416, "\(range)")
                #expect(answer.field("content-range") == "bytes */\(size)")
                #expect(answer.body.contains("one range"))
            }
            #expect(try await part("", method: "POST").status == 405)
        }
    }

    @Test func `Parts of one file are never mixed with those of another`() async throws {
        try await Self.serving("first") { service, _, path in
            func url() async throws -> String {
                let settings = try await Web.get(service.webPort, "/map/settings.json").body
                let url = try #require(settings.firstMatch(of: /"url":"(map\/basemap[^"]+)"/))
                return "/\(url.1)"
            }
            let url1 = try await url()
            let first = try await Web.get(service.webPort, url1, headers: ["Range: bytes=127-131"])
            #expect(first.body == "first")
            #expect(first.field("cache-control") == "private, max-age=31536000, immutable")
            let tag = try #require(first.field("etag"))
            let known = try await Web.get(
                service.webPort, url1, headers: ["If-None-Match: \(tag)"])
            #expect(known.status == 304)
            let other = path + ".new"
            try Self.archive("other").write(to: URL(fileURLWithPath: other))
            #expect(rename(other, path) == 0)
            let gone = try await Web.get(service.webPort, url1, headers: ["Range: bytes=127-131"])
            #expect(gone.status == 404 && gone.body.contains("load the page again"))
            let url2 = try await url()
            #expect(url1 != url2)
            let second = try await Web.get(
                service.webPort, url2, headers: ["Range: bytes=127-131"])
            #expect(second.body == "other")
            let untagged = try await Web.get(
                service.webPort, "/map/basemap.pmtiles",
                headers: ["Range: bytes=127-131", "If-Range: \(tag)"])
            #expect(untagged.status == 200)
            #expect(untagged.field("cache-control") == "no-cache")
            let newTag = try #require(untagged.field("etag"))
            let same = try await Web.get(
                service.webPort, "/map/basemap.pmtiles",
                headers: ["Range: bytes=127-131", "If-Range: \(newTag)"])
            #expect(same.status == 206)
            #expect(unlink(path) == 0)
            #expect(try await Web.get(service.webPort, url2).status == 404)
        }
    }

    @Test func `Where clients log in, the archive is for those who have`() async throws {
        try await withTemporaryFolder { folder in
            try Self.archive("").write(to: URL(fileURLWithPath: folder + "/map.pmtiles"))
            var settings = Web.guarded
            settings.basemap = try Basemap(archive: folder + "/map.pmtiles", attribution: nil)
            let token = Token()
            var file = TokenFile()
            file.add(.init(token, try Grant(principal: "rita", role: .read), created: 0))
            try await TestService.with(access: AccessControl(tokens: file), web: settings) {
                service in
                let path = "/map/basemap.pmtiles"
                let stranger = try await Web.get(service.webPort, path)
                #expect(stranger.status == 401)
                let reader = try await Web.get(
                    service.webPort, path,
                    headers: ["Authorization: Bearer \(token.text)", "Range: bytes=0-6"])
                #expect(reader.status == 206 && reader.body == "PMTiles")
            }
        }
    }
}
