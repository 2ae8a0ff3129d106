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
    /// `.json` is `ndjson` unless the text begins like an array or like GeoJSON. What has no name
    /// that tells is a table unless the text begins like JSON. `.gz` and `.zip` are ignored.
    static func named(_ path: String) -> (format: Self, isGuess: Bool) {
        var name = path.lowercased()
        for suffix in [".gz", ".zip", ".kmz"] where name.hasSuffix(suffix) {
            name.removeLast(suffix.utf8.count)
        }
        for (suffix, format) in suffixes where name.hasSuffix(suffix) {
            return (format, guesses.contains(suffix))
        }
        return (.csv, true)
    }

    /// What is said of a file whose name and contents tell no format.
    static var unknown: InterchangeError {
        let known = allCases.map(\.rawValue).joined(separator: ", ")
        return InterchangeError(
            "neither its name nor its beginning tells its format; say --format, one of \(known)",
            isUsage: true)
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
        for (magic, name) in binaries where head.starts(with: magic) { throw unreadable(name) }
        for (magic, name, command) in packed where head.starts(with: magic) {
            throw InterchangeError(
                "is \(name), which cannot be read: `\(command) FILE | geobucket load - --format … "
                    + "--bucket B` loads what is inside")
        }
        if head.starts(with: Array("bplist0".utf8)) { return .plist }
        if head.starts(with: Array("PK\u{3}\u{4}".utf8)) {
            throw InterchangeError(
                "is a zip, which can be read from a file but not from a pipe: `unzip -p` unpacks it"
            )
        }
        switch rootName(head) {
        case nil: return nil
        case "plist": return .plist
        case "gpx": return .gpx
        case "kml": return .kml
        case "osm": throw unreadable("OpenStreetMap XML")
        case "html":
            throw InterchangeError("is a web page, not data: perhaps a download that needs a login")
        default: throw unreadable("XML")
        }
    }

    /// The name of the outermost element of XML or HTML, without its namespace's prefix and in lower
    /// case; empty where it does not begin; nil for other texts.
    private static func rootName(_ head: UnsafeBufferPointer<UInt8>) -> String? {
        // UTF-16 without its NULs and its mark is text enough.
        let text = String(decoding: head.filter { $0 != 0 && $0 < 0x80 }, as: UTF8.self)
        var rest = text.drop { $0.isWhitespace }
        guard rest.first == "<" else { return nil }
        while let open = rest.firstIndex(of: "<") {
            rest = rest[open...].dropFirst()
            if rest.hasPrefix("!--") {
                rest = rest.firstRange(of: "-->").map { rest[$0.upperBound...] } ?? ""
            } else if rest.hasPrefix("!doctype html") || rest.hasPrefix("!DOCTYPE html") {
                return "html"
            } else if let first = rest.first, first.isLetter {
                let name = rest.prefix { !$0.isWhitespace && $0 != ">" && $0 != "/" }
                return name.split(separator: ":").last?.lowercased() ?? ""
            }
        }
        return ""
    }

    private static let binaries: [([UInt8], String)] = [
        (Array("SQLite format 3".utf8), "an SQLite database, perhaps a GeoPackage"),
        (Array("PAR1".utf8), "Parquet"), ([0, 0, 0x27, 0x0A], "a shapefile's part"),
        (Array("fgb".utf8) + [3], "FlatGeobuf"), (Array("%PDF".utf8), "PDF"),
        ([0xD0, 0xCF, 0x11, 0xE0], "an Excel workbook"), (Array("ARROW1".utf8), "Arrow"),
        (Array("Obj".utf8) + [1], "Avro"),
    ]

    private static let packed: [([UInt8], String, String)] = [
        (Array("BZh".utf8), "bzip2", "bzip2 -dc"),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "xz", "xz -dc"),
        ([0x28, 0xB5, 0x2F, 0xFD], "Zstandard", "zstd -dc"),
    ]

    /// What is refused by name, with what to do.
    static func unreadable(_ name: String, instead: String? = nil) -> InterchangeError {
        let ogr2ogr =
            "`ogr2ogr -f GeoJSONSeq /vsistdout/ FILE | geobucket load - --format geojson --bucket B` "
            + "loads it"
        return InterchangeError("is \(name), which cannot be read: \(instead ?? ogr2ogr)")
    }
}
