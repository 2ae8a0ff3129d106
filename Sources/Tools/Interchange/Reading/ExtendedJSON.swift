import JSONText

/// Values that other databases wrap to tell their types: MongoDB's extended JSON
/// (`{"$oid":"65f0…"}`) and the values of Firestore's REST interface (`{"integerValue":"5"}`).
///
/// Numbers become numbers, dates milliseconds since 1970, ids and binary data text. What has no
/// plain form stays as it is.
enum ExtendedJSON {
    /// The record with plain values; nil if it has none that are wrapped.
    static func plain(_ record: JSONView) -> [UInt8]? {
        var writer = JSONWriter(reserving: record.text.count)
        var hasWrapped = false
        if let document = firestoreDocument(record) {
            hasWrapped = true
            let id = document["name"]?.string?.split(separator: "/").last.map(String.init) ?? ""
            writer.raw("{\"_id\":")
            writer.string(id)
            writer.raw(",\"_source\":")
            write(members: document["fields"]!, .firestore, to: &writer, &hasWrapped)
            writer.byte(UInt8(ascii: "}"))
        } else {
            write(record, .mongo, to: &writer, &hasWrapped)
        }
        return hasWrapped ? writer.bytes : nil
    }

    private enum Dialect { case mongo, firestore }

    /// A document of Firestore's REST interface, which may be inside the answer to a query.
    private static func firestoreDocument(_ record: JSONView) -> JSONView? {
        let document = record["document"] ?? record
        guard document["fields"]?.kind == .object,
            document["name"]?.string?.contains("/documents/") == true
        else { return nil }
        return document
    }

    private static func write(
        _ view: JSONView, _ dialect: Dialect, to writer: inout JSONWriter, _ hasWrapped: inout Bool
    ) {
        switch view.kind {
        case .object:
            if unwrap(view, dialect, to: &writer, &hasWrapped) {
                hasWrapped = true
            } else {
                write(members: view, dialect, to: &writer, &hasWrapped)
            }
        case .array: write(elements: view, dialect, to: &writer, &hasWrapped)
        default: writer.raw(view.text)
        }
    }

    private static func write(
        members view: JSONView, _ dialect: Dialect, to writer: inout JSONWriter,
        _ hasWrapped: inout Bool
    ) {
        writer.byte(UInt8(ascii: "{"))
        for (index, member) in zip(0..., view.members) {
            if index > 0 { writer.byte(UInt8(ascii: ",")) }
            writer.raw(member.nameText)
            write(member.value, dialect, to: &writer, &hasWrapped)
        }
        writer.byte(UInt8(ascii: "}"))
    }

    private static func write(
        elements view: JSONView, _ dialect: Dialect, to writer: inout JSONWriter,
        _ hasWrapped: inout Bool
    ) {
        writer.byte(UInt8(ascii: "["))
        for (index, element) in zip(0..., view.elements) {
            if index > 0 { writer.byte(UInt8(ascii: ",")) }
            write(element, dialect, to: &writer, &hasWrapped)
        }
        writer.byte(UInt8(ascii: "]"))
    }

    private static func unwrap(
        _ view: JSONView, _ dialect: Dialect, to writer: inout JSONWriter, _ hasWrapped: inout Bool
    ) -> Bool {
        guard let first = view.members.first(where: { _ in true }) else { return false }
        let name = String(decoding: first.name, as: UTF8.self)
        switch dialect {
        case .mongo: return unwrapMongo(name, first.value, view, to: &writer)
        case .firestore:
            guard view.count == 1 else { return false }
            return unwrapFirestore(name, first.value, to: &writer, &hasWrapped)
        }
    }

    private static func unwrapMongo(
        _ name: String, _ value: JSONView, _ view: JSONView, to writer: inout JSONWriter
    ) -> Bool {
        // The old form of binary data has its type beside it.
        guard name.hasPrefix("$"), view.count == 1 || name == "$binary" && view["$type"] != nil
        else { return false }
        switch name {
        case "$oid", "$uuid", "$symbol": return copy(value, .string, to: &writer)
        case "$binary": return copy(value["base64"] ?? value, .string, to: &writer)
        case "$numberLong", "$numberInt", "$numberDouble", "$numberDecimal":
            return number(value, to: &writer)
        case "$date": return date(value["$numberLong"] ?? value, to: &writer)
        case "$timestamp":
            guard let seconds = value["t"]?.number?.exactInt else { return false }
            writer.integer(seconds * 1_000)
            return true
        case "$undefined":
            writer.raw("null")
            return true
        default: return false
        }
    }

    private static func unwrapFirestore(
        _ name: String, _ value: JSONView, to writer: inout JSONWriter, _ hasWrapped: inout Bool
    ) -> Bool {
        switch name {
        case "stringValue", "booleanValue", "nullValue", "referenceValue", "bytesValue",
            "geoPointValue":
            writer.raw(value.text)
        case "integerValue", "doubleValue": return number(value, to: &writer)
        case "timestampValue": return date(value, to: &writer)
        case "mapValue":
            guard let fields = value["fields"] else {
                writer.raw("{}")
                return true
            }
            write(members: fields, .firestore, to: &writer, &hasWrapped)
        case "arrayValue":
            guard let values = value["values"] else {
                writer.raw("[]")
                return true
            }
            write(elements: values, .firestore, to: &writer, &hasWrapped)
        default: return false
        }
        return true
    }

    private static func copy(
        _ value: JSONView, _ kind: JSONKind, to writer: inout JSONWriter
    ) -> Bool {
        guard value.kind == kind else { return false }
        writer.raw(value.text)
        return true
    }

    /// A number, or one that stands in quotes; NaN and infinity stay text.
    private static func number(_ value: JSONView, to writer: inout JSONWriter) -> Bool {
        if value.kind == .number { return copy(value, .number, to: &writer) }
        guard let text = value.utf8 else { return false }
        writer.raw(JSONSpelling.isNumber(text) ? text : value.text)
        return true
    }

    private static func date(_ value: JSONView, to writer: inout JSONWriter) -> Bool {
        guard let text = value.string, value.kind == .string else {
            return copy(value, .number, to: &writer)
        }
        guard let milliseconds = Int64(text) ?? DateText.milliseconds(text) else { return false }
        writer.integer(milliseconds)
        return true
    }
}
