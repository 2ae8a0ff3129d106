import JSONText
import Objects
import QueryLanguage

/// Converts one GeoJSON Feature to the JSON text of an object.
///
/// The properties become fields, and the Point becomes the point field; a MultiPoint becomes an
/// array there. A Point's third coordinate becomes `altitude`, unless the properties have one. The feature's `id` becomes `_id`. Members unknown to
/// GeoJSON become fields too. Only `bbox` is dropped, because a point implies it.
struct GeoJSONFeature {
    private let pointField: [UInt8]
    private let parser = JSONParser()
    private let validator: RecordValidator

    init(options: ReadingOptions) {
        pointField = Array(options.pointField.utf8)
        validator = RecordValidator(limits: options.limits)
    }

    /// - Parameter text: one JSON value.
    func object(_ text: UnsafeBufferPointer<UInt8>) throws(RecordError) -> [UInt8] {
        let feature: JSONView
        do throws(JSONSyntaxError) {
            feature = try parser.parse(text)
        } catch {
            throw RecordError(error.message)
        }
        guard feature.kind == .object, let type = feature["type"]?.string else {
            throw RecordError("expected a GeoJSON Feature")
        }
        if type == "FeatureCollection", feature["features"] == nil {
            throw RecordError("is missing in the FeatureCollection", path: "features")
        }
        guard type == "Feature" else {
            throw RecordError("expected a Feature, found \(quoted(type))", path: "type")
        }
        let output = try object(feature)
        try output.withUnsafeBufferPointer { text throws(RecordError) in
            _ = try validator.validate(text)
        }
        return output
    }

    private func object(_ feature: JSONView) throws(RecordError) -> [UInt8] {
        let properties = feature["properties"]
        guard properties.map({ $0.kind == .object || $0.kind == .null }) ?? true else {
            throw RecordError("expected an object or null", path: "properties")
        }
        var members = Members()
        if let id = try Self.id(of: feature) {
            guard properties?["_id"] == nil else {
                throw RecordError("the feature has an \"id\" and the property \"_id\"", path: "id")
            }
            members.begin("_id")
            members.writer.string(id)
        }
        if let properties {
            for member in properties.members { members.copy(member) }
        }
        for member in feature.members where !Self.isKnown(member.name) { members.copy(member) }
        try appendPoint(of: feature, properties, to: &members)
        members.writer.byte(UInt8(ascii: "}"))
        return members.writer.bytes.withUnsafeBufferPointer(minifiedJSON)
    }

    private static func isKnown(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        ["type", "id", "geometry", "properties", "bbox"].contains { name.elementsEqual($0.utf8) }
    }

    /// Numbers keep their decimal spelling.
    private static func id(of feature: JSONView) throws(RecordError) -> String? {
        guard let value = feature["id"] else { return nil }
        let text: String
        switch value.kind {
        case .null: return nil
        case .string: text = value.string!
        case .number, .huge: text = value.text.text
        case .bool, .array, .object: throw RecordError("expected a string or a number", path: "id")
        }
        do throws(RecordError) {
            try RecordValidator.checkID(text)
        } catch {
            throw RecordError(error.message, path: "id")
        }
        return text
    }

    private func appendPoint(
        of feature: JSONView, _ properties: JSONView?, to members: inout Members
    ) throws(RecordError) {
        guard let geometry = feature["geometry"], geometry.kind != .null else { return }
        guard let type = geometry["type"]?.string else {
            throw RecordError("expected a geometry or null", path: "geometry")
        }
        let positions: [[JSONView]]
        switch type {
        case "Point": positions = [try Self.position(geometry["coordinates"])]
        case "MultiPoint": positions = try Self.positions(geometry["coordinates"])
        default:
            throw RecordError(
                "only Points and MultiPoints can be loaded, not \(quoted(type))", path: "geometry")
        }
        let taken = pointField.withUnsafeBufferPointer { properties?.member($0) }
        // `FeatureWriter` keeps an array that holds more than points; the geometry says less.
        if let taken, taken.kind == .array, !GeoPoint.coordinates(of: taken).isEmpty { return }
        guard taken == nil else {
            let name = quoted(String(decoding: pointField, as: UTF8.self))
            throw RecordError(
                "the property \(name) has the name of the point field", path: "properties")
        }
        members.begin(pointField)
        guard type == "Point" else {
            members.writer.byte(UInt8(ascii: "["))
            members.writer.list(positions) { Self.write($0, to: &$1) }
            members.writer.byte(UInt8(ascii: "]"))
            return
        }
        Self.write(positions[0], to: &members.writer)
        if positions[0].count == 3, properties?["altitude"] == nil {
            members.begin("altitude")
            members.writer.raw(positions[0][2].text)
        }
    }

    private static func write(_ position: [JSONView], to writer: inout JSONWriter) {
        writer.raw("{\"_type\":\"point\",\"lat\":")
        writer.raw(position[1].text)
        writer.key("lon")
        writer.raw(position[0].text)
        writer.byte(UInt8(ascii: "}"))
    }

    /// Positions without altitude: the points of an array have none.
    private static func positions(_ value: JSONView?) throws(RecordError) -> [[JSONView]] {
        let path = "geometry.coordinates"
        guard let value, value.kind == .array else {
            throw RecordError("expected an array of positions", path: path)
        }
        var positions: [[JSONView]] = []
        for (index, element) in zip(0..., value.elements) {
            let position = try position(element, at: "\(path)[\(index)]")
            guard position.count == 2 else {
                throw RecordError(
                    "a position of a MultiPoint can have no altitude", path: "\(path)[\(index)]")
            }
            positions.append(position)
        }
        return positions
    }

    /// Longitude, latitude and an optional altitude.
    private static func position(
        _ value: JSONView?, at path: String = "geometry.coordinates"
    ) throws(RecordError) -> [JSONView] {
        guard let value, value.kind == .array, (2...3).contains(value.count),
            value.elements.allSatisfy({ $0.kind == .number || $0.kind == .huge })
        else { throw RecordError("expected [longitude, latitude] or with altitude", path: path) }
        let position = Array(value.elements)
        for (degrees, bound, name) in [
            (position[0], 180.0, "longitude"), (position[1], 90.0, "latitude"),
        ] {
            guard let number = degrees.number?.double, abs(number) <= bound else {
                throw RecordError(
                    "\(name) \(degrees.text.text) is outside -\(Int(bound))...\(Int(bound)); "
                        + "the order is [longitude, latitude]", path: path)
            }
        }
        return position
    }
}

/// The members of an object under construction.
private struct Members: ~Copyable {
    var writer = JSONWriter(reserving: 512)

    init() { writer.byte(UInt8(ascii: "{")) }

    private mutating func separate() {
        if writer.count > 1 { writer.byte(UInt8(ascii: ",")) }
    }

    mutating func begin(_ name: [UInt8]) {
        separate()
        writer.string(name)
        writer.byte(UInt8(ascii: ":"))
    }

    mutating func begin(_ name: String) { begin(Array(name.utf8)) }

    mutating func copy(_ member: JSONView.Member) {
        separate()
        writer.raw(member.text)
    }
}
