import JSONText
import Objects

/// The fields of one record, whatever wraps them: a plain object, a GeoJSON Feature, a hit of
/// Elasticsearch, or an element of OpenStreetMap.
struct RecordFields {
    /// What wraps the fields, which is the same in a whole file.
    enum Wrapper { case plain, feature, hit, element }

    let wrapper: Wrapper
    /// The object inside the record whose members are fields: properties, tags, the source of a hit.
    let inner: JSONView?
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
            inner = properties
            geometry = record["geometry"].flatMap { $0.kind == .null ? nil : $0 }
            let own = record["id"].flatMap { $0.kind == .null ? nil : $0 }
            id = try Self.id(own, or: properties)
        } else if kind == .elements, type?.kind == .string, record["id"] != nil {
            wrapper = .element
            inner = record["tags"]
            id = try Self.id(record["id"], or: record["tags"])
            geometry =
                record["center"] ?? record["geometry"] ?? (record["lat"] != nil ? record : nil)
        } else if let source = record["_source"], source.kind == .object, record["_id"] != nil {
            wrapper = .hit
            id = try Self.id(record["_id"], or: source)
            (inner, geometry) = (source, nil)
        } else {
            wrapper = .plain
            (inner, id, geometry) = (nil, record["_id"], nil)
        }
    }

    /// The id of what wraps the fields, or of the fields; they can have no two.
    private static func id(
        _ own: JSONView?, or fields: JSONView?
    ) throws(RecordError) -> JSONView? {
        guard let inner = fields?["_id"] else { return own }
        guard own == nil else {
            throw RecordError(
                "the record has an id, and a field \"_id\" besides; one of them has to go",
                path: "_id")
        }
        return inner
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

    /// The members of the record itself that are no fields.
    private var wrapping: [StaticString] {
        switch wrapper {
        case .plain, .hit: []
        case .feature: ["type", "id", "geometry", "properties", "bbox"]
        case .element: ["type", "id", "lat", "lon", "center", "geometry", "bounds", "tags"]
        }
    }

    /// Calls `body` with each field; `_id` is none.
    func visit(_ body: (JSONView.Member) throws(RecordError) -> Void) throws(RecordError) {
        if let inner {
            for member in inner.members where !member.name.elementsEqualBytes("_id") {
                try body(member)
            }
        }
        guard wrapper != .hit else { return }
        let wrapping = wrapping
        for member in record.members where !member.name.elementsEqualBytes("_id") {
            if wrapping.contains(where: { member.name.elementsEqualBytes($0) }) { continue }
            try body(member)
        }
    }

    /// The value at a path: a field, or by the names `id` and `geometry` what wraps the fields.
    func value(at path: FieldPath) -> JSONView? {
        if let value = inner.flatMap(path.value) { return value }
        guard wrapper != .plain else { return path.value(in: record) }
        if wrapper != .hit, let value = path.value(in: record) {
            let name = path.utf8.prefix { $0 != UInt8(ascii: ".") }
            if !wrapping.contains(where: { name.elementsEqual($0.utf8) }) { return value }
        }
        return wrapped(path)
    }

    private func wrapped(_ path: FieldPath) -> JSONView? {
        switch path.text {
        case "id", "_id": id
        case "geometry": geometry
        default: nil
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

extension StaticString {
    fileprivate var utf8: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
    }
}
