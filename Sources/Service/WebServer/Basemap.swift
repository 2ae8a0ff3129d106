import JSONText

/// The map that lies under the objects on the map page, instead of outlines and names of places.
///
///     let osm = try Basemap(
///         template: "https://tile.openstreetmap.org/{z}/{x}/{y}.png",
///         attribution: "© OpenStreetMap contributors")
///     osm.origin          // "https://tile.openstreetmap.org"
public struct Basemap: Sendable {
    enum Kind: String {
        /// Images, each at its own address.
        case raster
        /// Mapbox Vector Tiles, each at its own address.
        case vector
        /// All tiles in one file.
        case archive
    }

    /// Why there is no such map, to follow the name of the setting.
    public struct Fault: Error, CustomStringConvertible {
        /// The fault in words.
        public let description: String

        init(_ description: String) { self.description = description }
    }

    let kind: Kind
    /// Where the tiles are, with `{z}`, `{x}` and `{y}`; empty for an archive.
    let template: String
    /// What the page's policy has to permit besides the port itself; nil for an archive.
    let origin: String?
    let archive: TileArchive?
    /// Whose map it is.
    let attribution: String?
    /// The deepest zoom level that has tiles.
    let deepest: Int

    /// The deepest zoom level of the page.
    public static let deepestZoom = 22
    /// The deepest zoom level of most servers of images, and of vector tiles.
    static let usualDepths: [Kind: Int] = [.raster: 19, .vector: 14]

    /// Tiles of a server.
    ///
    /// - Parameters:
    ///   - template: the address of a tile, with `{z}`, `{x}` and `{y}` or `{-y}`, perhaps `{s}` for
    ///     a, b or c as a part of the host, and `{r}`, which is empty. If its path ends in `.mvt` or
    ///     `.pbf`, tiles are vectors, otherwise images.
    ///   - deepest: the deepest zoom level that has tiles, at most `deepestZoom`.
    public init(template: String, attribution: String?, deepest: Int? = nil) throws(Fault) {
        let path = template.prefix { $0 != "?" && $0 != "#" }
        kind = path.hasSuffix(".mvt") || path.hasSuffix(".pbf") ? .vector : .raster
        self.template = template
        origin = try Self.origin(of: template)
        try Self.checkPlaceholders(of: template)
        archive = nil
        self.attribution = attribution
        self.deepest = deepest ?? Self.usualDepths[kind]!
    }

    /// The tiles in a PMTiles archive of version 3.
    ///
    /// - Parameter path: of the file. It is opened with each request, and may be replaced.
    public init(archive path: String, attribution: String?) throws(Fault) {
        (kind, template, origin, self.attribution) = (.archive, "", nil, attribution)
        let archive = TileArchive(path: path)
        deepest = try archive.check()
        self.archive = archive
    }

    /// The source of a template, as a Content-Security-Policy names it. What may stand in it is
    /// little, because it becomes a part of that header.
    private static func origin(of template: String) throws(Fault) -> String {
        guard let scheme = ["https://", "http://"].first(where: template.hasPrefix) else {
            throw Fault("\"\(template)\" begins with neither https:// nor http://")
        }
        let host = template.dropFirst(scheme.count).prefix { $0 != "/" }
        let subdomains = host.range(of: "{s}")
        let plain = subdomains.map { host[$0.upperBound...] } ?? host
        let isPlain = plain.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || "-.:[]".utf8.contains(byte)
        }
        guard isPlain, !plain.isEmpty else {
            throw Fault("\"\(host)\" is no HOST or HOST:PORT")
        }
        guard let subdomains else { return scheme + host }
        // A policy has a wildcard for whole labels only.
        guard let dot = plain.firstIndex(of: "."), !host[..<subdomains.lowerBound].contains(".")
        else { throw Fault("{s} in \"\(host)\" is no part of the host's first label") }
        return scheme + "*" + plain[dot...]
    }

    private static let placeholders: Set<Substring> = ["z", "x", "y", "-y", "s", "r"]

    private static func checkPlaceholders(of template: String) throws(Fault) {
        var found: Set<Substring> = []
        var rest = template[...]
        while let start = rest.firstIndex(of: "{") {
            let name = rest[rest.index(after: start)...].prefix { $0 != "}" }
            guard placeholders.contains(name), name.endIndex < rest.endIndex else {
                let whole = name.endIndex < rest.endIndex ? "{\(name)}" : "{\(name)"
                throw Fault("\(whole) is none of {z}, {x}, {y}, {-y}, {s}, {r}")
            }
            found.insert(name)
            rest = rest[name.endIndex...]
        }
        for name in ["z", "x"] where !found.contains(Substring(name)) {
            throw Fault("\"\(template)\" has no {\(name)}")
        }
        guard found.contains("y") != found.contains("-y") else {
            throw Fault("\"\(template)\" has to have either {y} or {-y}")
        }
    }

    /// Writes what the page has to know, as a JSON object.
    ///
    /// - Parameter tag: of the archive as it is now.
    func write(into writer: inout JSONWriter, tag: String?) {
        writer.raw("{\"kind\":")
        writer.string(kind.rawValue)
        writer.key("url")
        writer.string(archive == nil ? template : "map/basemap.pmtiles?tag=\(tag ?? "")")
        writer.key("deepest")
        writer.integer(Int64(deepest))
        if let attribution {
            writer.key("attribution")
            writer.string(attribution)
        }
        writer.byte(UInt8(ascii: "}"))
    }
}
