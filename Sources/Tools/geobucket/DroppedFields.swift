import JSONText
import Objects

/// The predefined fields besides the id that a load or an export leaves out.
struct DroppedFields: Sendable {
    private var objects = 0
    private var names: [PredefinedField] = []

    /// Notes those of an object.
    mutating func note(_ object: JSONView) {
        var hasAny = false
        for member in object.members where member.name.first == UInt8(ascii: "_") {
            guard let field = Self.field(member.name) else { continue }
            hasAny = true
            if !names.contains(field) { names.append(field) }
        }
        if hasAny { objects += 1 }
    }

    /// Notes those of an object's text, which is parsed only if it may have some.
    mutating func note(in text: [UInt8]) {
        guard Self.mayHaveAny(text) else { return }
        try? JSONParser.reading(text) { note($0) }
    }

    /// Whether some text in quotes begins as the name of a predefined field does.
    private static func mayHaveAny(_ text: [UInt8]) -> Bool {
        text.indices.dropFirst().dropLast().contains { index in
            text[index] == UInt8(ascii: "_") && text[index - 1] == UInt8(ascii: "\"")
                && initials.contains(text[index + 1])
        }
    }

    private static let initials = PredefinedField.allCases.filter { $0 != .id }.map {
        Array($0.rawValue.utf8)[1]
    }

    /// The predefined field of a name, unless it is the id.
    static func field(_ name: UnsafeBufferPointer<UInt8>) -> PredefinedField? {
        guard name.first == UInt8(ascii: "_"),
            let field = PredefinedField(rawValue: String(decoding: name, as: UTF8.self)),
            field != .id
        else { return nil }
        return field
    }

    /// What was left out; nil if nothing was.
    var sentence: String? {
        guard objects > 0 else { return nil }
        let fields = PredefinedField.allCases.filter(names.contains).map(\.rawValue)
        return "left out of \(counted(objects, "object")): \(fields.joined(separator: ", ")); "
            + "--with-metadata keeps them"
    }
}
