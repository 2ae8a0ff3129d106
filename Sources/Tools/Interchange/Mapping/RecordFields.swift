import JSONText
import Objects

/// The fields of one record, whatever wraps them: a plain object, a GeoJSON Feature, a hit of
/// Elasticsearch, or an element of OpenStreetMap.
struct RecordFields {
    /// What wraps the fields, which is the same in a whole file.
    enum Wrapper { case plain, feature, hit, element }

    let wrapper: Wrapper
    /// The objects whose members are the fields.
    let sources: [JSONView]
    /// The id that is in no field, or in `_id`.
    let id: JSONView?
    /// A feature's geometry; of an element the value that has its place.
    let geometry: JSONView?
    private let record: JSONView

    /// What the format says of its records.
    enum Kind {
        case any
        /// Features of GeoJSON, and nothing else.
        case features
        /// Objects with `type` and `id` are elements of OpenStreetMap.
        case elements
    }

    init(_ record: JSONView, _ kind: Kind) throws(RecordError) {
        self.record = record
        let type = record["type"]
        let isFeature = type?.utf8?.elementsEqualBytes("Feature") ?? false
        if kind == .features, !isFeature { throw Self.noFeature(record) }
        if isFeature,
            kind == .features || record["geometry"] != nil || record["properties"] != nil
        {
            let properties = record["properties"]
            guard properties.map({ $0.kind == .object || $0.kind == .null }) ?? true else {
                throw RecordError("expected an object or null", path: "properties")
            }
            wrapper = .feature
            sources = [properties, record].compactMap { $0 }
            geometry = record["geometry"].flatMap { $0.kind == .null ? nil : $0 }
            let own = record["id"].flatMap { $0.kind == .null ? nil : $0 }
            if own != nil, properties?["_id"] != nil {
                throw RecordError(
                    "the feature has an \"id\" and the property \"_id\"; --rename or --without "
                        + "changes one of them", path: "id")
            }
            id = own ?? properties?["_id"]
        } else if kind == .elements, type?.kind == .string, record["id"] != nil {
            wrapper = .element
            sources = [record["tags"], record].compactMap { $0 }
            id = record["id"]
            geometry =
                record["center"] ?? record["geometry"] ?? (record["lat"] != nil ? record : nil)
        } else if let source = record["_source"], source.kind == .object, record["_id"] != nil {
            wrapper = .hit
            (sources, id, geometry) = ([source], record["_id"], nil)
        } else {
            wrapper = .plain
            (sources, id, geometry) = ([record], record["_id"], nil)
        }
    }

    private static func noFeature(_ record: JSONView) -> RecordError {
        guard let type = record["type"]?.string else {
            return RecordError("expected a GeoJSON Feature")
        }
        if type == "FeatureCollection", record["features"] == nil {
            return RecordError("is missing in the FeatureCollection", path: "features")
        }
        return RecordError("expected a Feature, found \(quoted(type))", path: "type")
    }

    /// Whether a member of the record itself is no field.
    func isWrapping(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        let names: [StaticString] =
            switch wrapper {
            case .plain: []
            case .feature: ["type", "id", "geometry", "properties", "bbox"]
            case .element: ["type", "id", "lat", "lon", "center", "geometry", "bounds", "tags"]
            case .hit: []
            }
        return names.contains { name.elementsEqualBytes($0) }
    }

    /// Calls `body` with each field; `_id` is none.
    func visit(_ body: (JSONView.Member) throws(RecordError) -> Void) throws(RecordError) {
        for source in sources {
            let isRecord = source.isSameValue(as: record)
            for member in source.members {
                if isRecord, isWrapping(member.name) { continue }
                if member.name.elementsEqualBytes("_id") { continue }
                try body(member)
            }
        }
    }

    /// The value at a path: a field, or by the names `id` and `geometry` what wraps the fields.
    func value(at path: FieldPath) -> JSONView? {
        for source in sources {
            let isRecord = source.isSameValue(as: record)
            guard let value = path.value(in: source) else { continue }
            let first = path.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1).first ?? []
            if isRecord, Array(first).withUnsafeBufferPointer({ isWrapping($0) }) { continue }
            return value
        }
        return wrapped(path)
    }

    private func wrapped(_ path: FieldPath) -> JSONView? {
        guard wrapper != .plain else { return nil }
        switch path.text {
        case "id", "_id": return id
        case "geometry": return geometry
        default: return nil
        }
    }

    /// The text of the id in no field: `node/240109189` for an element.
    func externalID() throws(RecordError) -> String? {
        guard
            let text = try id.flatMap({ value throws(RecordError) in
                try Self.idText(value, at: wrapper == .feature ? "id" : "_id")
            })
        else { return nil }
        guard wrapper == .element, let type = record["type"]?.string else { return text }
        return "\(type)/\(text)"
    }

    /// A value as the text of an id; nil for null and for an empty text.
    static func idText(_ value: JSONView, at path: String) throws(RecordError) -> String? {
        switch value.kind {
        case .null: return nil
        case .string: return value.count == 0 && value.utf8!.isEmpty ? nil : value.string
        case .number, .huge: return value.text.text
        case .bool, .array, .object:
            throw RecordError("expected a string or a number", path: path)
        }
    }
}
