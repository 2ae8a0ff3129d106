import ArgumentParser
import ServiceDesk
import WebServer

/// The flags of `serve` for its data over HTTP.
struct WebFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Address for the data over HTTP: methods, live queries and a map, usually port 4364; without it there is no web port.",
            valueName: "host:port"))
    var web: String?

    @Option(
        help: ArgumentHelp(
            "Where clients reach the web port, for links in its answers, such as https://geo.example.com. (default: where a request was sent)",
            valueName: "url", visibility: .hidden))
    var webUrl: String?

    @Option(
        help: ArgumentHelp(
            "Origins of pages that may use the web port besides its own, with commas between them.",
            valueName: "origins", visibility: .hidden))
    var webOrigin: String?

    @Option(
        help: ArgumentHelp(
            "The folder with Leaflet, as Debian's package libjs-leaflet lays it out. (default: \(WebPort.Settings.standardAssets))",
            valueName: "path", visibility: .hidden))
    var webAssets: String?

    @OptionGroup var basemapFlags: BasemapFlags

    @Option(
        help: ArgumentHelp(
            "The id of an application written for Kii: the web port answers Kii's REST interface under /api/apps/ID.",
            valueName: "id", visibility: .hidden))
    var kiiApp: String?

    @Option(
        help: ArgumentHelp(
            "The key that clients of that application have to send; better in GEOBUCKET_KII_KEY.",
            valueName: "key", visibility: .hidden))
    var kiiKey: String?

    @Option(
        help: ArgumentHelp(
            "What clients of that application may do in its own scope without a token. (default: everything, with --tokens nothing)",
            valueName: "none|read|write", visibility: .hidden))
    var kiiAnonymous: String?

    /// Nil when the web port is off.
    ///
    /// - Parameter hasLogins: whether clients have to log in.
    func settings(_ settings: Settings, hasLogins: Bool) throws -> WebPort.Settings? {
        guard let address = try settings.address("web", flag: web) else {
            for (name, flag) in [
                ("webUrl", webUrl), ("webOrigin", webOrigin), ("webAssets", webAssets),
                ("kiiApp", kiiApp), ("kiiKey", kiiKey), ("kiiAnonymous", kiiAnonymous),
            ] where settings.string(name, flag: flag) != nil {
                throw ValidationError("\(name) needs --web")
            }
            if let name = try basemapFlags.given(settings).first {
                throw ValidationError("\(name) needs --web")
            }
            return nil
        }
        var result = WebPort.Settings(
            host: address.host, port: address.port,
            hosts: hasLogins ? .any : address.isLoopback ? .loopback : .knownNames)
        if let url = settings.string("webUrl", flag: webUrl) {
            guard url.hasPrefix("https://") || url.hasPrefix("http://") else {
                throw ValidationError(
                    "--web-url: \"\(url)\" begins with neither https:// nor http://")
            }
            result.url = url.hasSuffix("/") ? String(url.dropLast()) : url
        }
        if let origins = settings.string("webOrigin", flag: webOrigin) {
            result.origins = Set(origins.split(separator: ",").map(String.init))
            for origin in result.origins where !Self.isOrigin(origin) {
                throw ValidationError(
                    "--web-origin: \"\(origin)\" is no origin, such as https://app.example.com")
            }
        }
        if let assets = try settings.folder("webAssets", flag: webAssets) { result.assets = assets }
        result.basemap = try basemapFlags.basemap(settings)
        result.kii = try kii(settings)
        return result
    }

    private func kii(_ settings: Settings) throws -> KiiSettings? {
        let key = settings.string("kiiKey", flag: kiiKey)
        let anonymous = settings.string("kiiAnonymous", flag: kiiAnonymous)
        guard let app = settings.string("kiiApp", flag: kiiApp) else {
            for (name, text) in [("kiiKey", key), ("kiiAnonymous", anonymous)] where text != nil {
                throw ValidationError("\(name) needs --kii-app")
            }
            return nil
        }
        guard KiiSettings.isID(app) else {
            throw ValidationError(
                "--kii-app: \"\(app)\" is no id of an application: expected a-z, A-Z, 0-9, '-', '_', '.'"
            )
        }
        if key == "" { throw ValidationError("--kii-key: the key is empty") }
        var kii = KiiSettings(app: app, key: key)
        if let anonymous {
            kii.anonymous = AnonymousAccess(rawValue: anonymous)
            if kii.anonymous == nil {
                throw ValidationError(
                    "--kii-anonymous: \"\(anonymous)\" is none of none, read, write")
            }
        }
        return kii
    }

    /// Whether a text is a scheme, a host and perhaps a port.
    private static func isOrigin(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && ["http:", "https:"].contains(parts[0]) && parts[1].isEmpty
            && !parts[2].isEmpty
    }
}
