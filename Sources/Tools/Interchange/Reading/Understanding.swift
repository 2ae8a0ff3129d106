/// What was understood of a file before its first record was delivered.
public struct Understanding: Sendable {
    /// The format of its records.
    public internal(set) var format: InputFormat
    /// What was found out about the text: `separator ;`, `records results`.
    public internal(set) var details: [String] = []
    /// The flags that say what was found out about the text.
    public internal(set) var formatFlags: [String] = []
    /// The fields of the records that were looked at.
    public internal(set) var fields: [SurveyedField] = []
    /// The type of each column of a table.
    public internal(set) var columns: [(name: String, type: ColumnType)] = []
    /// How many records were looked at.
    public internal(set) var records = 0
    /// Whether those are all.
    public internal(set) var isWhole = false
    /// The mapping with all that was found out.
    public internal(set) var mapping: Mapping
    /// How many records have a geometry of their own, such as that of a Feature.
    public internal(set) var geometries = 0
    /// Whether the records have ids of their own.
    public internal(set) var hasIDs = false
    /// What a user should know before the file is loaded.
    public internal(set) var warnings: [String] = []

    init(format: InputFormat, mapping: Mapping) { (self.format, self.mapping) = (format, mapping) }

    /// The flags of `geobucket load` that say all of it.
    public var flags: [String] { ["--format", format.rawValue] + formatFlags + mapping.flags }

    /// Three lines: the format, the place, the ids.
    public var summary: [String] {
        let count = "\(isWhole ? "" : "the first ")\(records) records"
        return [
            "\(format.rawValue)\(details.map { ", " + $0 }.joined()), \(count), \(fields.count) fields",
            "place: \(place)", "id: \(id)",
        ]
    }

    private var place: String {
        var places = mapping.places.map {
            "\($0.field), from \($0.paths.joined(separator: " and "))"
        }
        if geometries > 0, !mapping.places.contains(where: { $0.paths == ["geometry"] }) {
            let count = geometries < records ? ", which \(geometries) of them have" : ""
            places.append("\(mapping.pointField), from the geometry\(count)")
        }
        places += fields.filter(\.hasGeoPoints).map { "\($0.name), GeoPoints already" }
        guard !places.isEmpty else {
            return "none was found; --place FIELD=LATITUDE,LONGITUDE says it"
        }
        return places.joined(separator: "; ")
            + (mapping.crs.map { $0 == .degrees ? "" : ", converted from \($0.name)" } ?? "")
    }

    private var id: String {
        switch mapping.id {
        case .none: return "made by the service"
        case .fields(let paths): return "from \(paths.joined(separator: " and "))"
        case .usual:
            guard hasIDs else { return "made by the service; --id FIELD takes it from a field" }
            return mapping.keepsID
                ? "that of the record, made valid; the original is kept in \(mapping.idField)"
                : "that of the record"
        }
    }
}
