import JSONText
import Objects
import QueryLanguage

/// One GeoJSON FeatureCollection (RFC 7946), each feature on a line of its own.
///
/// `_id` becomes the feature's `id`, one GeoPoint its geometry, all other fields its properties.
/// Coordinates keep the spelling of their numbers. An object without the point has a null geometry.
struct GeoJSONWriter: ObjectWriter {
    private let pointField: FieldPath?
    private let parser = ObjectParser()
    private var isEmpty = true

    init(pointField: String?) { self.pointField = pointField.map { FieldPath($0) } }

    mutating func write(_ object: [UInt8], to output: inout [UInt8]) throws(InterchangeError) {
        let view = try parser.parse(object)
        var writer = JSONWriter(reserving: object.count + 160)
        isEmpty ? writer.raw(Self.opening) : writer.byte(UInt8(ascii: ","))
        isEmpty = false
        writer.raw("\n{\"type\":\"Feature\",")
        if let id = view["_id"], id.kind == .string {
            writer.raw("\"id\":")
            writer.raw(id.text)
            writer.byte(UInt8(ascii: ","))
        }
        let point = geometry(of: view)
        Self.write(point, to: &writer)
        writer.raw("\"properties\":{")
        let properties = view.members.filter { member in
            let isPoint = point?.isSameValue(as: member.value) ?? false
            let isID = member.name.elementsEqual("_id".utf8) && member.value.kind == .string
            return !isPoint && !isID
        }
        writer.list(properties) { $1.raw($0.text) }
        writer.raw("}}")
        output += writer.bytes
    }

    mutating func finish(to output: inout [UInt8]) {
        var writer = JSONWriter()
        if isEmpty { writer.raw(Self.opening) }
        writer.raw("\n]}\n")
        output += writer.bytes
    }

    private static let opening: StaticString = "{\"type\":\"FeatureCollection\",\"features\":["

    /// The GeoPoint that becomes the geometry; nested ones stay among the properties as well.
    private func geometry(of object: JSONView) -> JSONView? {
        if let pointField {
            return pointField.value(in: object).flatMap {
                GeoPoint.coordinate(of: $0) == nil ? nil : $0
            }
        }
        if let standard = object["location"], GeoPoint.coordinate(of: standard) != nil {
            return standard
        }
        return object.members.first { GeoPoint.coordinate(of: $0.value) != nil }?.value
    }

    private static func write(_ point: JSONView?, to writer: inout JSONWriter) {
        guard let point, let longitude = point["lon"], let latitude = point["lat"] else {
            return writer.raw("\"geometry\":null,")
        }
        writer.raw("\"geometry\":{\"type\":\"Point\",\"coordinates\":[")
        writer.raw(longitude.text)
        writer.byte(UInt8(ascii: ","))
        writer.raw(latitude.text)
        writer.raw("]},")
    }
}
