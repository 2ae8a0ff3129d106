import Foundation
import TestSupport
import Testing
import WebServer

/// The files of the map and login pages.
@Suite(.timeLimit(.minutes(5))) struct PageTests {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().appendingPathComponent("../../../Sources/Service/WebFiles")

    @Test func `Every file of the folder is served as it is`() async throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(names.count > 40)
        try await TestService.with(web: Web.open) { service in
            for name in names {
                let data = try Data(contentsOf: Self.folder.appendingPathComponent(name))
                let text = String(decoding: data, as: UTF8.self)
                let answer = try await Web.get(service.webPort, "/map/\(name)")
                #expect(answer.status == 200, "\(name)")
                #expect(answer.body == text, "\(name)")
            }
        }
    }

    @Test func `Pages are told the line port once it listens`() async throws {
        var settings = Web.open
        let port = LinePort()
        settings.linePort = port
        try await TestService.with(web: settings) { service in
            let before = try await Web.get(service.webPort, "/map/settings.json")
            #expect(before.body == #"{"isLineEncrypted":false,"hasGIS":true}"#)
            port.announce(14_362)
            let after = try await Web.get(service.webPort, "/map/settings.json")
            #expect(after.body == #"{"isLineEncrypted":false,"hasGIS":true,"linePort":14362}"#)
            #expect(after.field("content-type") == "application/json")
        }
    }

    @Test func `The root is a catalogue, which leads to the map`() async throws {
        try await TestService.with(web: Web.open) { service in
            let root = try await Web.get(service.webPort, "/")
            #expect(root.body.contains(#"href="map""#) && root.body.contains(#"href="ogc""#))
            for path in ["/", "/map", "/login"] {
                let page = try await Web.get(service.webPort, path)
                #expect(page.status == 200)
                #expect(page.field("content-type") == "text/html; charset=utf-8")
                let tag = try #require(page.field("etag"))
                let again = try await Web.get(
                    service.webPort, path, headers: ["If-None-Match: \(tag)"])
                #expect(again.status == 304)
                #expect(again.body.isEmpty)
            }
        }
    }

    @Test func `Scripts of others come from their folder, and nothing else does`() async throws {
        try await withTemporaryFolder { folder in
            let leaflet = folder + "/js/leaflet/images"
            try FileManager.default.createDirectory(
                atPath: leaflet, withIntermediateDirectories: true)
            try "leaflet".write(
                toFile: folder + "/js/leaflet/leaflet.js", atomically: true, encoding: .utf8)
            try "layers".write(
                toFile: leaflet + "/layers.png", atomically: true, encoding: .utf8)
            try "secret".write(toFile: folder + "/secret", atomically: true, encoding: .utf8)
            try "hidden".write(
                toFile: folder + "/js/leaflet/.hidden", atomically: true, encoding: .utf8)
            #expect(mkfifo(folder + "/js/leaflet/pipe", 0o600) == 0)
            for (name, bytes) in [("most", 4 << 20), ("more", (4 << 20) + 1)] {
                try Data(count: bytes).write(
                    to: URL(fileURLWithPath: "\(folder)/js/leaflet/\(name).js"))
            }
            var settings = Web.open
            settings.assets = folder + "/js"
            try await TestService.with(web: settings) { service in
                for (path, status, body) in [
                    ("leaflet.js", 200, "leaflet"), ("images/layers.png", 200, "layers"),
                    ("none.js", 404, "libjs-leaflet"), ("../../secret", 404, ""),
                    ("%2e%2e/%2e%2e/secret", 404, ""), ("..%2f..%2fsecret", 404, ""),
                    ("images", 404, ""), ("", 404, ""), ("/", 404, ""), ("./leaflet.js", 404, ""),
                    (".hidden", 404, ""), ("pipe", 404, ""), ("most.js", 200, ""),
                    ("more.js", 404, ""),
                ] {
                    let answer = try await Web.get(
                        service.webPort, "/assets/leaflet/" + path)
                    #expect(answer.status == status, "\(path)")
                    #expect(body.isEmpty || answer.body.contains(body), "\(path): \(answer.body)")
                }
            }
        }
    }
}
