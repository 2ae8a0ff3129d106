import ArgumentParser
import WebServer

/// The flags of `serve` for the map under the objects on the map page.
struct BasemapFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Tiles for the map page to lie under the objects, such as https://tile.example.com/{z}/{x}/{y}.png; .mvt and .pbf are vector tiles. (default: outlines of countries and names of places, which are part of the program)",
            valueName: "url", visibility: .hidden))
    var webBasemap: String?

    @Option(
        help: ArgumentHelp(
            "A PMTiles archive instead, which the web port serves itself.", valueName: "path",
            visibility: .hidden))
    var webBasemapFile: String?

    @Option(
        help: ArgumentHelp(
            "Whose map that is, to be shown on it. (default: what an archive says)",
            valueName: "text", visibility: .hidden))
    var webBasemapAttribution: String?

    @Option(
        help: ArgumentHelp(
            "The deepest zoom level that --web-basemap has. (default: 19, of vector tiles 14)",
            valueName: "level", visibility: .hidden))
    var webBasemapZoom: Int?

    /// The settings that are given, by their names.
    func given(_ settings: Settings) throws -> [String] {
        let texts = [
            ("webBasemap", webBasemap), ("webBasemapFile", webBasemapFile),
            ("webBasemapAttribution", webBasemapAttribution),
        ]
        let given = texts.filter { settings.string($0.0, flag: $0.1) != nil }.map(\.0)
        let zoom = try settings.int("webBasemapZoom", flag: webBasemapZoom)
        return zoom == nil ? given : given + ["webBasemapZoom"]
    }

    /// Nil for the program's own outlines and names.
    func basemap(_ settings: Settings) throws -> Basemap? {
        let template = settings.string("webBasemap", flag: webBasemap)
        let file = try settings.path("webBasemapFile", flag: webBasemapFile)
        let attribution = settings.string(
            "webBasemapAttribution", flag: webBasemapAttribution)
        let zoom = try zoom(settings)
        switch (template, file) {
        case (_?, _?):
            throw ValidationError("--web-basemap and --web-basemap-file exclude each other")
        case (let template?, nil):
            let source = settings.source(of: "webBasemap", flag: webBasemap)
            return try Self.named(source) { () throws(Basemap.Fault) in
                try Basemap(template: template, attribution: attribution, deepest: zoom)
            }
        case (nil, let file?):
            guard zoom == nil else {
                throw ValidationError(
                    "--web-basemap-zoom needs --web-basemap; an archive says what it has")
            }
            let source = settings.source(of: "webBasemapFile", flag: webBasemapFile)
            return try Self.named("\(source): \(file)") { () throws(Basemap.Fault) in
                try Basemap(archive: file, attribution: attribution)
            }
        case (nil, nil):
            if let name = try given(settings).first {
                throw ValidationError("\(name) needs --web-basemap or --web-basemap-file")
            }
            return nil
        }
    }

    private func zoom(_ settings: Settings) throws -> Int? {
        guard let zoom = try settings.int("webBasemapZoom", flag: webBasemapZoom) else {
            return nil
        }
        guard (0...Basemap.deepestZoom).contains(zoom) else {
            let source = settings.source(
                of: "webBasemapZoom", flag: webBasemapZoom.map(String.init))
            throw ValidationError("\(source) has to be 0 to \(Basemap.deepestZoom)")
        }
        return zoom
    }

    /// A fault with the name of what it is about before it.
    private static func named(
        _ name: String, _ body: () throws(Basemap.Fault) -> Basemap
    ) throws -> Basemap {
        do {
            return try body()
        } catch {
            throw ValidationError("\(name): \(error)")
        }
    }
}
