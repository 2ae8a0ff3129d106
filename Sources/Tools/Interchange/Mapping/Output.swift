import JSONText
import Objects

/// The names that a mapping gives to fields, ready to be compared.
final class FieldNames {
    fileprivate let renames: [(from: [UInt8], to: [UInt8])]
    fileprivate let only: [[UInt8]]?
    fileprivate let underscores: UnderscoreRule
    fileprivate let pointField: [UInt8]

    init(_ mapping: Mapping) {
        renames = mapping.renames.map { (Array($0.from.utf8), Array($0.to.utf8)) }
        only = mapping.only?.map { Array($0.utf8) }
        underscores = mapping.underscores
        pointField = Array(mapping.pointField.utf8)
    }

    /// Whether a field of the record is wanted.
    func keeps(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        only?.contains { name.elementsEqualBytes($0) } ?? true
    }

    /// The new name of a field; nil for one that keeps its name.
    func newName(of name: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        if let rename = renames.first(where: { name.elementsEqualBytes($0.from) }) {
            return rename.to
        }
        guard underscores != .refuse, Self.isReserved(name) else { return nil }
        return Array(underscores.name(for: name.text).utf8)
    }

    /// Predefined names are the service's own too, but it drops them from what is written.
    private static func isReserved(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        name.first == UInt8(ascii: "_") && name.text != "_calculated"
            && PredefinedField(rawValue: name.text) == nil
    }
}

/// An object under construction.
struct Output: ~Copyable {
    var writer = JSONWriter(reserving: 512)
    private let names: FieldNames
    /// Whether a field of the record has been written under the name of the point field.
    private(set) var hasPointField = false

    init(_ names: FieldNames) {
        self.names = names
        writer.byte(UInt8(ascii: "{"))
    }

    consuming func finished() -> [UInt8] {
        writer.byte(UInt8(ascii: "}"))
        return writer.withBytes(minifiedJSON)
    }

    private mutating func separate() {
        if writer.count > 1 { writer.byte(UInt8(ascii: ",")) }
    }

    mutating func id(_ id: String) {
        separate()
        writer.raw("\"_id\":")
        writer.string(id)
    }

    /// The name of a field whose value follows.
    mutating func begin(_ name: [UInt8]) {
        separate()
        if name == names.pointField { hasPointField = true }
        writer.string(name)
        writer.byte(UInt8(ascii: ":"))
    }

    /// A field as it stands in the record.
    mutating func copy(_ member: JSONView.Member) {
        separate()
        if member.name.elementsEqualBytes(names.pointField) { hasPointField = true }
        writer.raw(member.text)
    }

    /// A field without some of what is inside of it; nothing if nothing remains.
    mutating func write(
        _ name: [UInt8], _ value: JSONView, without removed: [ArraySlice<[UInt8]>]
    ) {
        let before = writer.count
        begin(name)
        if !write(value, without: removed) { writer.truncate(to: before) }
    }

    /// False if nothing remains of an object of which something was removed.
    private mutating func write(
        _ value: JSONView, without removed: [ArraySlice<[UInt8]>]
    ) -> Bool {
        guard !removed.isEmpty, value.kind == .object, !GeoPoint.isClaimed(by: value) else {
            writer.raw(value.text)
            return true
        }
        writer.byte(UInt8(ascii: "{"))
        var isEmpty = true
        for member in value.members {
            let inside = removed.filter { member.name.elementsEqualBytes($0.first!) }
            if inside.contains(where: { $0.count == 1 }) { continue }
            let before = writer.count
            if !isEmpty { writer.byte(UInt8(ascii: ",")) }
            writer.raw(member.nameText)
            if write(member.value, without: inside.map { $0.dropFirst() }) {
                isEmpty = false
            } else {
                writer.truncate(to: before)
            }
        }
        writer.byte(UInt8(ascii: "}"))
        return !isEmpty
    }

    /// A field, and what is inside of it as fields with longer names.
    mutating func flatten(
        _ name: [UInt8], _ value: JSONView, without removed: [ArraySlice<[UInt8]>]
    ) {
        guard value.kind == .object, value.count > 0, !GeoPoint.isClaimed(by: value) else {
            begin(name)
            writer.raw(value.text)
            return
        }
        for member in value.members {
            let inside = removed.filter { member.name.elementsEqualBytes($0.first!) }
            if inside.contains(where: { $0.count == 1 }) { continue }
            flatten(
                name + [UInt8(ascii: ".")] + member.name, member.value,
                without: inside.map { $0.dropFirst() })
        }
    }

    /// A GeoPoint.
    ///
    /// - Parameter degrees: nil: those of the position.
    mutating func point(
        _ position: PlaceReader.Position, _ degrees: (latitude: Double, longitude: Double)?
    ) {
        writer.raw("{\"_type\":\"point\",\"lat\":")
        number(degrees == nil ? position.yText : nil, degrees?.latitude ?? position.y)
        writer.key("lon")
        number(degrees == nil ? position.xText : nil, degrees?.longitude ?? position.x)
        writer.byte(UInt8(ascii: "}"))
    }

    private mutating func number(_ text: [UInt8]?, _ value: Double) {
        if let text { writer.raw(text) } else { writer.double(value) }
    }
}
