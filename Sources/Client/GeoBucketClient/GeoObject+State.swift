import PlainJSON
import Vocabulary

/// What a `GeoObject` holds.
extension GeoObject {
    package struct State: Sendable {
        var id: String?
        var created: Int64?
        var modified: Int64?
        var version: Int64?
        var owner: String?
        var dataType: String?
        var expires: Int64?
        /// Whether the next save has to send the expiry time.
        var expiryIsChanged = false
        var calculated: JSONValue?
        /// The app's own fields.
        private(set) var fieldsByName: [MemberName: Field] = [:]
        private(set) var lastPlace = 0
        /// Fields changed or removed since the last save or refresh, with the number of the change.
        var changes: [MemberName: Int] = [:]
        var changeCount = 0
        /// Whether the object was read with only some of its fields.
        var isPartial = false
    }

    struct Field: Sendable {
        let name: String
        let value: JSONValue
        /// The member as the service wrote it, until the app sets the field: an untouched field
        /// goes back as it came.
        let text: [UInt8]?
        /// Ascends in the order of the document.
        fileprivate(set) var place = 0
    }
}

extension GeoObject.State {
    /// The same fields, of the object that other operations have made it since.
    ///
    /// - Parameter withVersion: whether its version is taken over; that of a new object always is.
    package func after(
        _ present: GeoObject.State, withVersion: Bool
    ) -> GeoObject.State {
        guard id == nil || withVersion else { return self }
        var copy = self
        (copy.id, copy.version) = (present.id, present.version)
        (copy.created, copy.modified) = (present.created, present.modified)
        return copy
    }

    init(_ document: JSONView) throws {
        for member in document.members {
            let name = String(decoding: member.name, as: UTF8.self)
            try JSONMismatch.inside(name) {
                let value = try JSONValue(member.value)
                if name.isPredefinedName {
                    try take(value, name)
                } else {
                    put(.init(name: name, value: value, text: Array(member.text)))
                }
            }
        }
    }

    /// Sets a field where it is, or behind all others.
    private mutating func put(_ field: GeoObject.Field) {
        var field = field
        let name = MemberName(field.name)
        if let place = fieldsByName[name]?.place {
            field.place = place
        } else {
            lastPlace += 1
            field.place = lastPlace
        }
        fieldsByName[name] = field
    }

    private mutating func take(_ value: JSONValue, _ name: String) throws {
        switch PredefinedField(rawValue: name) {
        case .id: id = try value.decode()
        case .created: created = try value.decode()
        case .modified: modified = try value.decode()
        case .version: version = try value.decode()
        case .owner: owner = try value.decode()
        case .dataType: dataType = try value.decode()
        case .expires: expires = try value.decode()
        case nil: if name == "_calculated" { calculated = value }
        }
    }

    /// The value of a field, predefined or not.
    subscript(name: String) -> JSONValue? {
        name.isPredefinedName
            ? predefined.last { $0.name == name }?.value
            : fieldsByName[MemberName(name)]?.value
    }

    /// The app's own fields, in the order of the document.
    var fields: [GeoObject.Field] { fieldsByName.values.sorted { $0.place < $1.place } }

    /// The names of the fields to save, in the order in which they were changed.
    var changedNames: [String] { changes.sorted { $0.value < $1.value }.map(\.key.text) }

    /// The document: predefined fields first, then the app's own.
    var document: JSONValue {
        .object(predefined + fields.map { JSONValue.Member($0.name, $0.value) })
    }

    /// The app's own fields as JSON text.
    var text: [UInt8] {
        var writer = JSONWriter()
        writer.byte(UInt8(ascii: "{"))
        for (index, field) in fields.enumerated() {
            if index > 0 { writer.byte(UInt8(ascii: ",")) }
            if let text = field.text {
                writer.raw(text)
            } else {
                writer.string(field.name)
                writer.byte(UInt8(ascii: ":"))
                field.value.write(to: &writer)
            }
        }
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }

    /// The known predefined fields, and the distances.
    private var predefined: [JSONValue.Member] {
        func member(_ field: PredefinedField, _ value: JSONValue?) -> JSONValue.Member? {
            value.map { JSONValue.Member(field.rawValue, $0) }
        }
        return [
            member(.id, id?.jsonValue), member(.created, created?.jsonValue),
            member(.modified, modified?.jsonValue), member(.version, version?.jsonValue),
            member(.owner, owner?.jsonValue), member(.dataType, dataType?.jsonValue),
            member(.expires, expires?.jsonValue),
            calculated.map { JSONValue.Member("_calculated", $0) },
        ].compactMap(\.self)
    }

    /// The text of a field that has not been changed.
    func text(of name: String) -> [UInt8]? { fieldsByName[MemberName(name)]?.text }

    /// Sets or removes a field and notes that it has changed.
    mutating func set(_ value: JSONValue?, _ name: String) {
        replace(name, with: value.map { .init(name: name, value: $0, text: nil) })
    }

    /// Replaces the field of a name, with its text if it has one.
    mutating func replace(_ name: String, with field: GeoObject.Field?) {
        if let field { put(field) } else { fieldsByName[MemberName(name)] = nil }
        changeCount += 1
        changes[MemberName(name)] = changeCount
    }
}
