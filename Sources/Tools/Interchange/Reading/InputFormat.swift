import Glibc

/// The formats that can be loaded.
public enum InputFormat: String, Sendable, Hashable, CaseIterable {
    /// One JSON object on each line.
    case ndjson
    /// One array of JSON objects, or one object with such an array in it.
    case json
    /// A FeatureCollection, a Feature, or Features one after the other.
    case geojson
    /// A table with commas, semicolons, tabs or bars between its cells.
    case csv
    /// The same with tabs, in which a quote is text.
    case tsv
    /// Waypoints of GPX.
    case gpx
    /// Placemarks of KML.
    case kml
    /// Archives of NSKeyedArchiver and other property lists.
    case plist

    /// Whether records are rows of a table.
    public var isTable: Bool { self == .csv || self == .tsv }

    /// The format that a file's name implies, and whether its contents may imply another.
    ///
    /// `.json` is `ndjson` unless the text begins like an array or like GeoJSON; `.gz` and `.zip`
    /// are ignored.
    public static func named(_ path: String) throws(InterchangeError) -> (
        format: Self, isGuess: Bool
    ) {
        var name = path.lowercased()
        for suffix in [".gz", ".zip"] where name.hasSuffix(suffix) {
            name.removeLast(suffix.utf8.count)
        }
        for (suffix, format) in suffixes where name.hasSuffix(suffix) {
            return (format, guesses.contains(suffix))
        }
        let known = allCases.map(\.rawValue).joined(separator: ", ")
        throw InterchangeError(
            "no name that tells its format; say --format, one of \(known)", isUsage: true)
    }

    private static let suffixes: [(String, InputFormat)] = [
        (".ndjson", .ndjson), (".jsonl", .ndjson), (".json", .ndjson), (".geojson", .geojson),
        (".geojsonl", .geojson), (".geojsons", .geojson), (".geojsonseq", .geojson),
        (".csv", .csv), (".tsv", .tsv), (".tab", .tsv), (".txt", .csv), (".gpx", .gpx),
        (".kml", .kml), (".plist", .plist), (".archive", .plist),
    ]

    private static let guesses: Set<String> = [".json", ".txt"]

    /// The format of what need not be what its name says.
    ///
    /// - Parameter head: the first few thousand bytes.
    static func of(_ head: UnsafeBufferPointer<UInt8>, named: InputFormat) -> InputFormat {
        switch head.trimmed.first {
        case UInt8(ascii: "["): .json
        case UInt8(ascii: "{"): beginsLikeGeoJSON(head) ? .geojson : .ndjson
        default: named
        }
    }

    /// Whether an object begins like a FeatureCollection or a Feature.
    private static func beginsLikeGeoJSON(_ head: UnsafeBufferPointer<UInt8>) -> Bool {
        let dense = String(
            decoding: head.filter { !UnsafeBufferPointer.isSpace($0) }, as: UTF8.self)
        return dense.contains("\"type\":\"FeatureCollection\"")
            || dense.contains("\"type\":\"Feature\"") && dense.contains("\"geometry\":")
    }

    // MARK: Other formats

    /// Refuses by name what is no text, or a text of another format.
    ///
    /// - Returns: the format, where the beginning tells it beyond doubt.
    static func recognized(
        _ head: UnsafeBufferPointer<UInt8>
    ) throws(InterchangeError) -> InputFormat? {
        for (magic, name) in binaries where head.starts(with: magic) {
            throw unreadable(name, instead: nil)
        }
        if head.starts(with: Array("bplist0".utf8)) { return .plist }
        if head.starts(with: Array("PK\u{3}\u{4}".utf8)) {
            throw InterchangeError(
                "is a zip, which can be read from a file but not from a pipe: `unzip -p` unpacks it"
            )
        }
        // UTF-16 without its NULs and its mark is text enough.
        let units = head.filter { $0 != 0 && $0 < 0x80 }
        let start = String(decoding: units, as: UTF8.self).lowercased().trimmingSpaces
        guard start.hasPrefix("<") else { return nil }
        if start.contains("<plist") { return .plist }
        if start.contains("<gpx") { return .gpx }
        if start.contains("<kml") { return .kml }
        if start.contains("<osm") { throw unreadable("OpenStreetMap XML", instead: nil) }
        if start.contains("<html") {
            throw InterchangeError("is a web page, not data: perhaps a download that needs a login")
        }
        throw unreadable("XML", instead: nil)
    }

    private static let binaries: [([UInt8], String)] = [
        (Array("SQLite format 3".utf8), "an SQLite database, perhaps a GeoPackage"),
        (Array("PAR1".utf8), "Parquet"), ([0, 0, 0x27, 0x0A], "a shapefile's part"),
        (Array("fgb".utf8) + [3], "FlatGeobuf"), (Array("%PDF".utf8), "PDF"),
        ([0xD0, 0xCF, 0x11, 0xE0], "an Excel workbook"), (Array("ARROW1".utf8), "Arrow"),
        (Array("Obj".utf8) + [1], "Avro"),
    ]

    /// What is refused by name, with what to do.
    static func unreadable(_ name: String, instead: String?) -> InterchangeError {
        let ogr2ogr =
            "`ogr2ogr -f GeoJSONSeq /vsistdout/ FILE | geobucket load - --format geojson --bucket B` "
            + "loads it"
        return InterchangeError("is \(name), which cannot be read: \(instead ?? ogr2ogr)")
    }
}
