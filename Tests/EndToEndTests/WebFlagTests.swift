import ServiceDesk
import TestSupport
import Testing
import WebServer

@testable import geobucket

/// What the flags of `serve` for the web port make of it.
@Suite struct WebFlagTests {
    private static func port(
        _ flags: [String], hasLogins: Bool = false
    ) async throws -> WebPort.Settings? {
        try WebFlags.parse(flags).settings(try await Settings(file: nil), hasLogins: hasLogins)
    }

    private static func refusal(_ flags: [String]) async -> String? {
        do {
            _ = try await port(flags)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func `Without --web there is no web port`() async throws {
        #expect(try await Self.port([]) == nil)
    }

    @Test func `The web port has its defaults besides its address`() async throws {
        let port = try #require(try await Self.port(["--web", "[::1]:4364"]))
        #expect(port.host == "::1" && port.port == 4_364)
        #expect(port.url == nil && port.origins.isEmpty && port.kii == nil)
        #expect(port.assets == WebPort.Settings.standardAssets)
    }

    @Test(
        "Where nobody logs in, the address decides which names a request may ask for",
        arguments: [
            ("127.0.0.1:0", false, WebPort.HostRule.loopback), ("localhost:0", false, .loopback),
            ("[::1]:0", false, .loopback), ("127.8.9.10:0", false, .loopback),
            ("0.0.0.0:0", false, .knownNames), ("[::]:0", false, .knownNames),
            ("geo.example.com:0", false, .knownNames), ("128.0.0.1:0", false, .knownNames),
            ("127.0.0.1:0", true, .any), ("0.0.0.0:0", true, .any),
        ])
    func hosts(_ address: String, _ hasLogins: Bool, _ rule: WebPort.HostRule) async throws {
        let port = try await Self.port(["--web", address], hasLogins: hasLogins)
        #expect(port?.hosts == rule)
    }

    @Test(arguments: [
        ("https://geo.example.com", "https://geo.example.com"),
        ("https://geo.example.com/", "https://geo.example.com"),
        ("http://10.0.0.1:8080/maps/", "http://10.0.0.1:8080/maps"),
    ])
    func `The URL for links has no slash at its end`(_ given: String, _ url: String) async throws {
        #expect(try await Self.port(["--web", "h:1", "--web-url", given])?.url == url)
    }

    @Test func `Origins are separated by commas`() async throws {
        let flags = ["--web", "h:1", "--web-origin"]
        let one = try await Self.port(flags + ["https://app.example.com"])
        #expect(one?.origins == ["https://app.example.com"])
        let two = try await Self.port(flags + ["http://localhost:8000,https://[::1]:9"])
        #expect(two?.origins == ["http://localhost:8000", "https://[::1]:9"])
    }

    @Test func `The base map has its address, its credit and its depth`() async throws {
        let flags = ["--web", "h:1"]
        #expect(try await Self.port(flags)?.basemap == nil)
        for more in [
            [], ["--web-basemap-zoom", "22"], ["--web-basemap-attribution", "© Somebody"],
        ] {
            let port = try await Self.port(flags + ["--web-basemap", Self.tiles] + more)
            #expect(port?.basemap != nil, "\(more)")
        }
    }

    @Test(
        arguments: [
            ([], nil, nil), (["--kii-key", "k"], "k", nil),
            (["--kii-anonymous", "none"], nil, AnonymousAccess.none),
            (["--kii-anonymous", "read"], nil, .read),
            (["--kii-key", "k", "--kii-anonymous", "write"], "k", .write),
        ] as [([String], String?, AnonymousAccess?)])
    func `Kii's application has an id, perhaps a key and a rule for those without a token`(
        _ flags: [String], _ key: String?, _ anonymous: AnonymousAccess?
    ) async throws {
        let port = try await Self.port(["--web", "h:1", "--kii-app", "my_App-1.x"] + flags)
        let kii = try #require(port?.kii)
        #expect(kii.app == "my_App-1.x" && kii.key == key && kii.anonymous == anonymous)
    }

    private static let tiles = "https://h/{z}/{x}/{y}.png"

    @Test(arguments: [
        (["--web", "4364"], "--web: \"4364\" is no HOST:PORT"), (["--web", ""], "--web"),
        (["--web", "h:65536"], "--web"), (["--web", "::1:4364"], "--web"),
        (["--web-url", "https://h"], "webUrl needs --web"),
        (["--web-origin", "https://h"], "webOrigin needs --web"),
        (["--web-assets", "/x"], "webAssets needs --web"),
        (["--web-basemap", "https://h/{z}/{x}/{y}.png"], "webBasemap needs --web"),
        (["--web-basemap-file", "/x"], "webBasemapFile needs --web"),
        (["--web-basemap-zoom", "3"], "webBasemapZoom needs --web"),
        (
            ["--web", "h:1", "--web-basemap", "https://h/{z}/{x}.png"],
            "--web-basemap: \"https://h/{z}/{x}.png\" has to have either {y} or {-y}"
        ),
        (
            ["--web", "h:1", "--web-basemap-file", "/none.pmtiles"],
            "--web-basemap-file: /none.pmtiles: it cannot be read: No such file"
        ),
        (["--web", "h:1", "--web-basemap-file", ""], "--web-basemap-file: the path is empty"),
        (
            ["--web", "h:1", "--web-basemap", tiles, "--web-basemap-file", "/x"],
            "exclude each other"
        ),
        (
            ["--web", "h:1", "--web-basemap-attribution", "x"],
            "webBasemapAttribution needs --web-basemap or --web-basemap-file"
        ),
        (
            ["--web", "h:1", "--web-basemap-zoom", "3"],
            "webBasemapZoom needs --web-basemap or --web-basemap-file"
        ),
        (
            ["--web", "h:1", "--web-basemap", tiles, "--web-basemap-zoom", "23"],
            "--web-basemap-zoom has to be 0 to 22"
        ),
        (
            ["--web", "h:1", "--web-basemap-file", "/x", "--web-basemap-zoom", "3"],
            "an archive says what it has"
        ),
        (["--kii-app", "a"], "kiiApp needs --web"),
        (["--web", "h:1", "--web-url", "geo.example.com"], "--web-url"),
        (["--web", "h:1", "--web-url", "ftp://h"], "neither https:// nor http://"),
        (["--web", "h:1", "--web-origin", "app.example.com"], "is no origin"),
        (["--web", "h:1", "--web-origin", "https://"], "is no origin"),
        (["--web", "h:1", "--web-origin", "https://a/"], "is no origin"),
        (["--web", "h:1", "--web-origin", "https://a/b"], "is no origin"),
        (["--web", "h:1", "--web-origin", "*"], "is no origin"),
        (["--web", "h:1", "--web-origin", "null"], "is no origin"),
        (["--web", "h:1", "--web-origin", "https://a, https://b"], "\" https://b\" is no origin"),
        (
            ["--web", "h:1", "--web-assets", "/nowhere"],
            "--web-assets: /nowhere is no folder that can be read"
        ),
        (["--web", "h:1", "--web-assets", "/etc/passwd"], "/etc/passwd is no folder"),
        (["--web", "h:1", "--web-assets", ""], "--web-assets: the path is empty"),
        (["--web", "h:1", "--kii-key", "k"], "needs --kii-app"),
        (["--web", "h:1", "--kii-anonymous", "read"], "needs --kii-app"),
        (["--web", "h:1", "--kii-app", ""], "--kii-app"),
        (["--web", "h:1", "--kii-app", "my app"], "--kii-app"),
        (["--web", "h:1", "--kii-app", "a/b"], "--kii-app"),
        (["--web", "h:1", "--kii-app", "é"], "--kii-app"),
        (["--web", "h:1", "--kii-app", "a", "--kii-key", ""], "--kii-key"),
        (
            ["--web", "h:1", "--kii-app", "a", "--kii-anonymous", "admin"],
            "none of none, read, write"
        ),
    ])
    func `What makes no sense is refused, and named`(_ flags: [String], _ words: String) async {
        let refusal = await Self.refusal(flags)
        #expect(refusal?.contains(words) == true, "\(flags): \(refusal ?? "accepted")")
    }
}
