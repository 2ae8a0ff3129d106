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
    /// Records that have a geometry of their own: Features, elements.
    private(set) var geometries = 0
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
        if fields.geometry != nil { geometries += 1 }
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

    /// What the names and the values of fields tell of places.
    struct Places {
        /// The rules that are taken.
        var rules: [PlaceRule] = []
        /// The candidates of which none is taken because there are several.
        var rivals: [PlaceRule] = []
        /// Candidates of which too many values are no places.
        var doubts: [(rule: PlaceRule, places: Int, values: Int)] = []
    }

    /// Whether the records are objects of a service, as `export` writes them: their places are
    /// GeoPoints already, except in tables.
    private var isExport: Bool {
        ["_version", "_modified"].allSatisfy { name in fields.contains { $0.name == name } }
    }

    /// The places that are found by their usual names.
    func places(_ mapping: Mapping, isTable: Bool) -> Places {
        var found = Places()
        if isExport && !isTable || fields.contains(where: \.hasGeoPoints) { return found }
        // Columns as the CSV writer names them, as many as there are.
        found.rules = fields.compactMap { field in
            guard field.name.hasSuffix(".lat") else { return nil }
            let name = String(field.name.dropLast(4))
            guard fields.contains(where: { $0.name == name + ".lon" }) else { return nil }
            return PlaceRule(
                field: name, source: .pair(latitude: name + ".lat", longitude: name + ".lon"))
        }
        if !found.rules.isEmpty || geometries > 0 { return found }
        let candidates = (isExport ? [] : pairs(mapping)) + singles(mapping)
        for (rule, places, values) in candidates where places > 0 {
            if places * 10 >= values * 9 {
                found.rivals.append(rule)
            } else if !UsualNames.isPlane(rule.paths[0]) {
                found.doubts.append((rule, places, values))
            }
        }
        if found.rivals.count == 1 || isExport { (found.rules, found.rivals) = (found.rivals, []) }
        return found
    }

    /// A place that may be meant, with how many of its values are one.
    private typealias Candidate = (rule: PlaceRule, places: Int, values: Int)

    private func pairs(_ mapping: Mapping) -> [Candidate] {
        var found: [Candidate] = []
        for latitude in fields {
            guard let prefix = UsualNames.prefix(latitude.name, UsualNames.latitudes) else {
                continue
            }
            for longitude in fields
            where UsualNames.prefix(longitude.name, UsualNames.longitudes) == prefix
                && UsualNames.isPlane(latitude.name) == UsualNames.isPlane(longitude.name)
            {
                let rule = PlaceRule(
                    field: mapping.pointField,
                    source: .pair(latitude: latitude.name, longitude: longitude.name))
                let halves = [latitude, longitude].map { half in
                    (mapping.crs == nil ? half.degrees : half.decimals, half.values)
                }
                // The half that is less often a number.
                let less = halves.min { $0.0 * $1.1 < $1.0 * $0.1 }!
                found.append((rule, less.0, less.1))
            }
        }
        return found
    }

    private func singles(_ mapping: Mapping) -> [Candidate] {
        fields.map { field in
            let target = field.name.hasPrefix("_") ? mapping.pointField : field.name
            return (
                PlaceRule(field: target, source: .value(field.name)), field.places,
                field.values - field.empties
            )
        }
    }
}
