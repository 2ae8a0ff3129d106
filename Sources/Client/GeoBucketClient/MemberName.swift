import PlainJSON

/// A name of a member as a key of dictionaries. Names are equal if their code points are; a `String`
/// equals others that only look the same.
struct MemberName: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (a: MemberName, b: MemberName) -> Bool {
        a.text.utf8.elementsEqual(b.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension JSONValue {
    /// The values of an object's members by name, the last of duplicates.
    var valuesByName: [MemberName: JSONValue] {
        .init(members.map { (MemberName($0.name), $0.value) }) { _, last in last }
    }
}
