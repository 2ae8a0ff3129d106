import JSONText
import Objects

/// What a sample of records shows: their fields, the places in them, and whether ids have to be
/// escaped.
struct Survey {
    /// The first-level fields, in the order in which they first appear.
    private(set) var fields: [SurveyedField] = []
    /// Records that could be read.
    private(set) var records = 0
    /// Whether an id that is in no field is no object id.
    private(set) var hasForeignIDs = false
    /// Whether a record has a geometry of its own: a Feature, an element.
    private(set) var hasGeometry = false
    /// Whether the records have ids that are in no field, or in `_id`.
    private(set) var hasIDs = false
    /// Named paths that no record has so far.
    private(set) var missing: [(flag: String, path: String)]
    private var positions: [[UInt8]: Int] = [:]
    private var nested: Set<String> = []
    private let reader = PlaceReader(.point)

    /// - Parameter mapping: whose paths have to be found.
    init(for mapping: Mapping) { missing = mapping.namedPaths }

    mutating func add(_ fields: RecordFields) {
        records += 1
        if let id = try? fields.externalID() {
            hasIDs = true
            if !EscapedID.isValid(id) { hasForeignIDs = true }
        }
        if fields.geometry != nil { hasGeometry = true }
        missing.removeAll { fields.value(at: FieldPath($0.path)) != nil }
        try? fields.visit { member in
            let index = index(of: member.name)
            self.fields[index].add(member.value, reader)
            guard member.value.kind == .object, nested.count < 1_000 else { return }
            for inner in member.value.members {
                nested.insert(self.fields[index].name + "." + inner.name.text)
            }
        }
    }

    private mutating func index(of name: UnsafeBufferPointer<UInt8>) -> Int {
        let key = Array(name)
        if let index = positions[key] { return index }
        positions[key] = fields.count
        fields.append(SurveyedField(name: name.text))
        return fields.count - 1
    }

    /// The names of all fields, nested ones too.
    var names: [String] { fields.map(\.name) + nested.sorted() }

    // MARK: Places

    /// The places that the names and the values of fields tell.
    ///
    /// - Returns: the rules, and the candidates of which none is taken because there are several.
    func places(
        _ mapping: Mapping
    ) -> (rules: [PlaceRule], rivals: [PlaceRule]) {
        // Columns as the CSV writer names them, as many as there are.
        let halves = fields.compactMap { field -> PlaceRule? in
            guard field.name.hasSuffix(".lat") else { return nil }
            let name = String(field.name.dropLast(4))
            guard fields.contains(where: { $0.name == name + ".lon" }) else { return nil }
            return PlaceRule(
                field: name, source: .pair(latitude: name + ".lat", longitude: name + ".lon"))
        }
        if !halves.isEmpty || hasGeometry { return (halves, []) }
        let candidates = pairs(mapping) + values(mapping)
        return candidates.count == 1 ? (candidates, []) : ([], candidates)
    }

    private func pairs(_ mapping: Mapping) -> [PlaceRule] {
        var rules: [PlaceRule] = []
        for latitude in fields {
            guard let prefix = UsualNames.prefix(latitude.name, UsualNames.latitudes),
                latitude.isDegrees || mapping.crs != nil && latitude.isNumeric
            else { continue }
            for longitude in fields
            where UsualNames.prefix(longitude.name, UsualNames.longitudes) == prefix
                && (longitude.isDegrees || mapping.crs != nil && longitude.isNumeric)
                && UsualNames.isPlane(latitude.name) == UsualNames.isPlane(longitude.name)
            {
                rules.append(
                    PlaceRule(
                        field: mapping.pointField,
                        source: .pair(latitude: latitude.name, longitude: longitude.name)))
            }
        }
        return rules
    }

    private func values(_ mapping: Mapping) -> [PlaceRule] {
        fields.compactMap { field in
            guard field.isPlace else { return nil }
            let target = field.name.hasPrefix("_") ? mapping.pointField : field.name
            return PlaceRule(field: target, source: .value(field.name))
        }
    }
}

/// A first-level field, and what its values are.
public struct SurveyedField: Sendable {
    /// The field's name in the file.
    public let name: String
    private var numbers = 0
    private var texts = 0
    private var booleans = 0
    private var lists = 0
    private var objects = 0
    private var points = 0
    private var places = 0
    private var degrees = 0
    private var decimals = 0

    init(name: String) { self.name = name }

    private var values: Int { numbers + texts + booleans + lists + objects + points }

    mutating func add(_ value: JSONView, _ reader: PlaceReader) {
        switch value.kind {
        case .null: return
        case .bool: booleans += 1
        case .number, .huge: numbers += 1
        case .string:
            // An empty text is a missing value.
            if value.utf8!.isEmpty { return }
            texts += 1
        case .array: lists += 1
        case .object:
            if GeoPoint.isClaimed(by: value) {
                points += 1
                return
            }
            objects += 1
        }
        let number =
            value.number?.double
            ?? (value.kind == .string ? PlaceReader.decimal(value.string!.trimmingSpaces) : nil)
        if let number {
            decimals += 1
            if abs(number) <= 180 { degrees += 1 }
        } else if describesPlace(value, reader) {
            places += 1
        }
    }

    /// Whether a value is a place beyond doubt, or of a usual name and like a place.
    private func describesPlace(_ value: JSONView, _ reader: PlaceReader) -> Bool {
        let isUsual = UsualNames.places.contains(name.lowercased())
        switch value.kind {
        case .object:
            if value["x"] != nil, !isUsual { return false }
        case .array:
            guard isUsual, value.elements.contains(where: { $0.number != nil }) else {
                return false
            }
        case .string:
            let text = value.string!.trimmingSpaces
            let isGeohash = name.lowercased().contains("geohash")
            guard
                PlaceReader.looksLikeWKT(text) || isUsual && PlaceReader.looksLikeWKB(text)
                    || isUsual && text.hasPrefix("{") || isGeohash
                    || isUsual && text.contains(where: { ",; °".contains($0) })
            else { return false }
        default: return false
        }
        guard let found = try? reader.value(value) else { return false }
        if case .nothing = found { return false }
        return true
    }

    /// Whether it is a GeoPoint in some records.
    var hasGeoPoints: Bool { points > 0 }
    var isNumeric: Bool { decimals > 0 && decimals == values }
    var isDegrees: Bool { degrees > 0 && degrees == values }
    var isPlace: Bool { places > 0 && places * 10 >= values * 9 }

    /// `number`, `text (98 %), number (2 %)`, `GeoPoint`, and how many records have it.
    public var summary: String {
        let kinds = [
            ("number", numbers), ("text", texts), ("boolean", booleans), ("array", lists),
            ("object", objects), ("GeoPoint", points),
        ].filter { $0.1 > 0 }.sorted { $0.1 > $1.1 }
        guard kinds.count > 1 else { return "\(kinds.first?.0 ?? "empty"), in \(values) records" }
        return kinds.map { "\($0.0) (\($0.1))" }.joined(separator: ", ")
    }
}

/// The names that people give to places and to their halves.
enum UsualNames {
    static let latitudes = ["latitude", "latitud", "breitengrad", "lat", "y"]
    static let longitudes = [
        "longitude", "longitud", "längengrad", "laengengrad", "long", "lng", "lon", "x",
    ]
    static let places: Set<String> = [
        "geo_point_2d", "_geo", "location", "geometry", "geom", "wkt", "the_geom", "wkb_geometry",
        "way", "shape", "geo_shape", "position", "coordinates", "coordinate", "coords", "coord",
        "geo", "geopoint", "geo_point", "point", "latlng", "latlon", "lat_lng", "lat_lon", "loc",
        "gps", "geolocation", "geocode", "geohash", "geo_hash", "ewkt", "wkb",
    ]

    /// What stands before a usual ending: nothing for `lat`, `stop_` for `stop_lat`; nil for any
    /// other name.
    static func prefix(_ name: String, _ endings: [String]) -> String? {
        let lower = name.lowercased()
        for ending in endings where lower.hasSuffix(ending) {
            let prefix = name.dropLast(ending.count)
            if prefix.isEmpty { return "" }
            guard ending.count > 1, let last = prefix.last else { continue }
            let isCamel = last.isLowercase && name.dropFirst(prefix.count).first!.isUppercase
            if "_-. ".contains(last) || isCamel { return String(prefix).lowercased() }
        }
        return nil
    }

    /// Whether a name is `x` or `y`.
    static func isPlane(_ name: String) -> Bool { name.count == 1 }
}

extension InterchangeError {
    /// A name that no record has, with the nearest that there are.
    static func noField(_ name: String, among names: [String], flag: String) -> InterchangeError {
        let near = Nearness.nearest(to: name, among: names)
        let hint =
            names.isEmpty
            ? ""
            : "; " + (near.isEmpty ? "there are " : "the nearest are ")
                + (near.isEmpty ? Array(names.prefix(12)) : near).map { quoted($0) }
                .joined(separator: ", ")
        return InterchangeError("\(flag): no record has \(quoted(name))\(hint)", isUsage: true)
    }
}

/// Names that were perhaps meant.
enum Nearness {
    /// At most three names, the nearest first, that differ in at most half of their letters.
    static func nearest(to name: String, among names: [String]) -> [String] {
        let wanted = Array(name.lowercased().utf8.prefix(60))
        let found = names.map { other -> (name: String, distance: Int) in
            let last = other.split(separator: ".").last.map(String.init) ?? other
            return (other, min(distance(wanted, other), distance(wanted, last)))
        }
        return found.filter { $0.distance * 2 <= max(wanted.count, 2) }
            .sorted { $0.distance < $1.distance }.prefix(3).map(\.name)
    }

    /// Letters to insert, to remove or to exchange; 1 at most where one begins with the other.
    private static func distance(_ a: [UInt8], _ other: String) -> Int {
        let b = Array(other.lowercased().utf8.prefix(60))
        if a.starts(with: b) || b.starts(with: a) { return a.count == b.count ? 0 : 1 }
        var row = Array(0...b.count)
        for (i, letter) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for j in b.indices {
                let cost = min(row[j + 1] + 1, row[j] + 1, diagonal + (letter == b[j] ? 0 : 1))
                (diagonal, row[j + 1]) = (row[j + 1], cost)
            }
        }
        return row[b.count]
    }
}
