/// The formats that can be loaded.
public enum InputFormat: String, Sendable, Hashable, CaseIterable {
    /// One JSON object on each line.
    case ndjson
    /// A FeatureCollection, a Feature, or Features one after the other.
    case geojson
    /// Comma-separated values with a header row.
    case csv
    /// The same with tabs.
    case tsv

    /// The format that a file's name tells, and whether its beginning may tell another.
    ///
    /// `.json` is `ndjson` unless the text begins like GeoJSON; `.gz` behind a name is ignored.
    public static func named(_ path: String) throws(InterchangeError) -> (
        format: Self, isGuess: Bool
    ) {
        var name = path.lowercased()
        if name.hasSuffix(".gz") { name.removeLast(3) }
        for (suffix, format) in suffixes where name.hasSuffix(suffix) {
            return (format, suffix == ".json")
        }
        throw InterchangeError(
            "no name that tells its format; say --format ndjson, geojson, csv or tsv")
    }

    private static let suffixes: [(String, InputFormat)] = [
        (".ndjson", .ndjson), (".jsonl", .ndjson), (".json", .ndjson), (".geojson", .geojson),
        (".geojsonl", .geojson), (".geojsons", .geojson), (".csv", .csv), (".tsv", .tsv),
    ]

    /// Whether a text that could be any JSON begins like a FeatureCollection or a Feature.
    ///
    /// - Parameter head: the first few thousand bytes.
    static func beginsLikeGeoJSON(_ head: UnsafeBufferPointer<UInt8>) -> Bool {
        guard head.trimmed.first == UInt8(ascii: "{") else { return false }
        let dense = String(
            decoding: head.filter { !UnsafeBufferPointer.isSpace($0) }, as: UTF8.self)
        return dense.contains("\"type\":\"FeatureCollection\"")
            || dense.contains("\"type\":\"Feature\"") && dense.contains("\"geometry\":")
    }
}
