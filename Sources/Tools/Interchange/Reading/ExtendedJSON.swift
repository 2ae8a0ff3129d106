import JSONText

/// Values that other databases wrap to tell their types: MongoDB's extended JSON
/// (`{"$oid":"65f0…"}`) and the values of Firestore's REST interface (`{"integerValue":"5"}`).
///
/// Numbers become numbers, dates milliseconds since 1970, ids and binary data text. What has no
/// plain form stays as it is.
struct ExtendedJSON: ~Copyable {
    private var writer: JSONWriter
    private var hasWrapped = false
    private let isFirestore: Bool

    /// The record with plain values; nil if it has none that are wrapped.
    static func plain(_ record: JSONView) -> [UInt8]? {
        // The answer to a query has the document inside.
        let document = record["document"] ?? record
        let isFirestore =
            document["fields"]?.kind == .object
            && document["name"]?.string?.contains("/documents/") == true
        var plain = ExtendedJSON(
            writer: JSONWriter(reserving: record.text.count), isFirestore: isFirestore)
        guard isFirestore else {
            plain.write(record)
            return plain.hasWrapped ? plain.writer.bytes : nil
        }
        plain.writer.raw("{\"_id\":")
        let name = document["name"]!.string!
        plain.writer.string(name.split(separator: "/").last.map(String.init) ?? "")
        plain.writer.raw(",\"_source\":")
        plain.write(members: document["fields"]!)
        plain.writer.byte(UInt8(ascii: "}"))
        return plain.writer.bytes
    }

    private init(writer: consuming JSONWriter, isFirestore: Bool) {
        self.writer = writer
        self.isFirestore = isFirestore
    }

    private mutating func write(_ view: JSONView) {
        switch view.kind {
        case .object:
            if unwrap(view) { hasWrapped = true } else { write(members: view) }
        case .array: write(elements: view)
        default: writer.raw(view.text)
        }
    }

    private mutating func write(members view: JSONView) {
        writer.byte(UInt8(ascii: "{"))
        for (index, member) in zip(0..., view.members) {
            if index > 0 { writer.byte(UInt8(ascii: ",")) }
            writer.raw(member.nameText)
            write(member.value)
        }
        writer.byte(UInt8(ascii: "}"))
    }

    private mutating func write(elements view: JSONView) {
        writer.byte(UInt8(ascii: "["))
        for (index, element) in zip(0..., view.elements) {
            if index > 0 { writer.byte(UInt8(ascii: ",")) }
            write(element)
        }
        writer.byte(UInt8(ascii: "]"))
    }

    private mutating func unwrap(_ view: JSONView) -> Bool {
        guard let first = view.members.first(where: { _ in true }) else { return false }
        let name = first.name.text
        if isFirestore { return view.count == 1 && unwrapFirestore(name, first.value) }
        // The old form of binary data has its type beside it.
        guard name.hasPrefix("$"), view.count == 1 || name == "$binary" && view["$type"] != nil
        else { return false }
        return unwrapMongo(name, first.value)
    }

    private mutating func unwrapMongo(_ name: String, _ value: JSONView) -> Bool {
        switch name {
        case "$oid", "$uuid", "$symbol": return copy(value, .string)
        case "$binary": return copy(value["base64"] ?? value, .string)
        case "$numberLong", "$numberInt", "$numberDouble", "$numberDecimal": return number(value)
        case "$date": return date(value["$numberLong"] ?? value)
        case "$timestamp":
            guard let seconds = value["t"]?.number?.exactInt,
                case (let milliseconds, let isBeyond) = seconds.multipliedReportingOverflow(
                    by: 1_000),
                !isBeyond
            else { return false }
            writer.integer(milliseconds)
        case "$undefined": writer.raw("null")
        default: return false
        }
        return true
    }

    private mutating func unwrapFirestore(_ name: String, _ value: JSONView) -> Bool {
        switch name {
        case "stringValue", "booleanValue", "nullValue", "referenceValue", "bytesValue",
            "geoPointValue":
            writer.raw(value.text)
        case "integerValue", "doubleValue": return number(value)
        case "timestampValue": return date(value)
        case "mapValue":
            if let fields = value["fields"] { write(members: fields) } else { writer.raw("{}") }
        case "arrayValue":
            if let values = value["values"] { write(elements: values) } else { writer.raw("[]") }
        default: return false
        }
        return true
    }

    private mutating func copy(_ value: JSONView, _ kind: JSONKind) -> Bool {
        guard value.kind == kind else { return false }
        writer.raw(value.text)
        return true
    }

    /// A number, or one that stands in quotes; NaN and infinity stay text.
    private mutating func number(_ value: JSONView) -> Bool {
        guard let text = value.utf8 else { return copy(value, .number) }
        writer.raw(JSONSpelling.isNumber(text) ? text : value.text)
        return true
    }

    private mutating func date(_ value: JSONView) -> Bool {
        guard let text = value.string else { return copy(value, .number) }
        guard let milliseconds = Int64(text) ?? DateText.milliseconds(text) else { return false }
        writer.integer(milliseconds)
        return true
    }
}
