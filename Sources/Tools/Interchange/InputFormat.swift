/// The formats that can be loaded.
public enum InputFormat: String, Sendable, Hashable, CaseIterable {
    /// One JSON object on each line.
    case ndjson
    /// One array of JSON objects.
    case json
    /// A FeatureCollection, a Feature, or Features one after the other.
    case geojson
    /// Comma-separated values with a header row.
    case csv
    /// The same with tabs.
    case tsv

    /// The format that a file's name implies, and whether its contents may imply another.
    ///
    /// `.json` is `ndjson` unless the text begins like an array or like GeoJSON; a `.gz` suffix is
    /// ignored.
    public static func named(_ path: String) throws(InterchangeError) -> (
        format: Self, isGuess: Bool
    ) {
        var name = path.lowercased()
        if name.hasSuffix(".gz") { name.removeLast(3) }
        for (suffix, format) in suffixes where name.hasSuffix(suffix) {
            return (format, suffix == ".json")
        }
        guard !name.hasSuffix(".plist") else { throw propertyList }
        let known = allCases.map(\.rawValue).joined(separator: ", ")
        throw InterchangeError("no name that tells its format; say --format, one of \(known)")
    }

    static let propertyList = InterchangeError(
        "is a property list: `geobucket import-archive` loads those that NSKeyedArchiver wrote")

    private static let suffixes: [(String, InputFormat)] = [
        (".ndjson", .ndjson), (".jsonl", .ndjson), (".json", .ndjson), (".geojson", .geojson),
        (".geojsonl", .geojson), (".geojsons", .geojson), (".csv", .csv), (".tsv", .tsv),
    ]

    /// The format of a text that may be any JSON.
    ///
    /// - Parameter head: the first few thousand bytes.
    static func ofJSON(_ head: UnsafeBufferPointer<UInt8>) -> InputFormat {
        switch head.trimmed.first {
        case UInt8(ascii: "["): .json
        case UInt8(ascii: "{"): beginsLikeGeoJSON(head) ? .geojson : .ndjson
        default: .ndjson
        }
    }

    /// Whether an object begins like a FeatureCollection or a Feature.
    private static func beginsLikeGeoJSON(_ head: UnsafeBufferPointer<UInt8>) -> Bool {
        let dense = String(
            decoding: head.filter { !UnsafeBufferPointer.isSpace($0) }, as: UTF8.self)
        return dense.contains("\"type\":\"FeatureCollection\"")
            || dense.contains("\"type\":\"Feature\"") && dense.contains("\"geometry\":")
    }
}
