import PlainJSON

/// Writes objects as GeoJSON features (RFC 7946).
///
/// `_id` becomes the feature's `id`, one GeoPoint its geometry, all other fields its properties. An
/// array with GeoPoints becomes a MultiPoint; if it has other elements, it also stays a property.
/// Numbers keep their spelling. An object without the point has a null geometry.
public struct FeatureWriter {
    private let pointField: FieldPath?
    private let names: [[UInt8]]
    private let decimals: Set<[UInt8]>
    /// For each name the number of the last feature that has it.
    private var lastHolders: [Int]
    private var count = 0

    /// - Parameters:
    ///   - pointField: the field that becomes the geometry; nil takes the GeoPoint `location`, or the
    ///     first GeoPoint of an object without it.
    ///   - names: first-level fields that every feature has as properties, null if the object lacks
    ///     them.
    ///   - decimals: first-level fields in which a whole number is written `1.0`, for readers that
    ///     take the type of a field from its first values.
    public init(
        pointField: FieldPath?, names: [[UInt8]] = [], decimals: Set<[UInt8]> = []
    ) {
        (self.pointField, self.names, self.decimals) = (pointField, names, decimals)
        lastHolders = Array(repeating: 0, count: names.count)
    }

    /// Appends an object's feature, all but its last brace, so that it may get further members.
    ///
    /// - Complexity: O(fields), if the objects have their fields in the order of `names`.
    public mutating func write(unclosed object: JSONView, to writer: inout JSONWriter) {
        count += 1
        writer.raw("{\"type\":\"Feature\",")
        if let id = object["_id"], id.kind == .string {
            writer.raw("\"id\":")
            writer.raw(id.text)
            writer.byte(UInt8(ascii: ","))
        }
        let geometry = geometry(of: object)
        Self.write(geometry, to: &writer)
        writer.raw("\"properties\":{")
        var (isFirst, next) = (true, 0)
        for member in object.members {
            let isGeometry =
                geometry?.isSameValue(as: member.value) ?? false && Self.isOnlyPoints(member.value)
            let isID = member.name.elementsEqualBytes("_id") && member.value.kind == .string
            if isGeometry || isID { continue }
            if !isFirst { writer.byte(UInt8(ascii: ",")) }
            isFirst = false
            writer.raw(member.text)
            if isDecimal(member) { writer.raw(".0") }
            note(member.name, expectedAt: &next)
        }
        for (name, last) in zip(names, lastHolders) where last != count {
            if !isFirst { writer.byte(UInt8(ascii: ",")) }
            isFirst = false
            writer.string(name)
            writer.raw(":null")
        }
        writer.byte(UInt8(ascii: "}"))
    }

    /// Whether the member is a number that is to be written as a decimal, and is spelled as a whole
    /// number.
    private func isDecimal(_ member: JSONView.Member) -> Bool {
        guard !decimals.isEmpty, member.value.kind == .number,
            member.value.text.allSatisfy({ $0 == UInt8(ascii: "-") || (48...57).contains($0) })
        else { return false }
        return decimals.contains(Array(member.name))
    }

    /// Remembers that the present feature has a name.
    private mutating func note(_ name: UnsafeBufferPointer<UInt8>, expectedAt next: inout Int) {
        var index = next
        if index >= names.count || !name.elementsEqualBytes(names[index]) {
            guard let found = names.firstIndex(where: { name.elementsEqualBytes($0) }) else {
                return
            }
            index = found
        }
        lastHolders[index] = count
        next = index + 1
    }

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
            var isFirst = true
            for element in geometry.elements where GeoPoint.coordinate(of: element) != nil {
                if !isFirst { writer.byte(UInt8(ascii: ",")) }
                isFirst = false
                write(position: element, to: &writer)
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
