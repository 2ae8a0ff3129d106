import JSONText
import Objects
import QueryLanguage

/// One GeoJSON FeatureCollection (RFC 7946), each feature on a line of its own.
///
/// `_id` becomes the feature's `id`, one GeoPoint its geometry, all other fields its properties. An
/// array with GeoPoints becomes a MultiPoint; if it has other elements, it also stays a property.
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
        let geometry = geometry(of: view)
        Self.write(geometry, to: &writer)
        writer.raw("\"properties\":{")
        let properties = view.members.filter { member in
            let isGeometry =
                geometry?.isSameValue(as: member.value) ?? false && Self.isOnlyPoints(member.value)
            let isID = member.name.elementsEqual("_id".utf8) && member.value.kind == .string
            return !isGeometry && !isID
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

    /// The value that becomes the geometry; a nested one stays among the properties as well.
    private func geometry(of object: JSONView) -> JSONView? {
        func points(_ value: JSONView?) -> JSONView? {
            value.flatMap { GeoPoint.coordinates(of: $0).isEmpty ? nil : $0 }
        }
        if let pointField { return points(pointField.value(in: object)) }
        return points(object["location"])
            ?? object.members.lazy.compactMap { points($0.value) }.first
    }

    private static func isOnlyPoints(_ value: JSONView) -> Bool {
        value.kind != .array || value.elements.allSatisfy { GeoPoint.coordinate(of: $0) != nil }
    }

    private static func write(_ geometry: JSONView?, to writer: inout JSONWriter) {
        guard let geometry else { return writer.raw("\"geometry\":null,") }
        if geometry.kind == .array {
            writer.raw("\"geometry\":{\"type\":\"MultiPoint\",\"coordinates\":[")
            writer.list(geometry.elements.filter { GeoPoint.coordinate(of: $0) != nil }) {
                write(position: $0, to: &$1)
            }
            writer.byte(UInt8(ascii: "]"))
        } else {
            writer.raw("\"geometry\":{\"type\":\"Point\",\"coordinates\":")
            write(position: geometry, to: &writer)
        }
        writer.raw("},")
    }

    private static func write(position point: JSONView, to writer: inout JSONWriter) {
        guard let longitude = point["lon"], let latitude = point["lat"] else { return }
        writer.byte(UInt8(ascii: "["))
        writer.raw(longitude.text)
        writer.byte(UInt8(ascii: ","))
        writer.raw(latitude.text)
        writer.byte(UInt8(ascii: "]"))
    }
}
