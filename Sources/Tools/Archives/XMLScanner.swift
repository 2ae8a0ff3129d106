/// Tags and text of an XML document in UTF-8, without attributes, entities or namespaces.
struct XMLScanner {
    enum Tag: Equatable {
        case start(String, isEmpty: Bool)
        case end(String)
    }

    private let bytes: [UInt8]
    private var at = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
    }

    func fault(_ message: String) -> ArchiveFailure {
        let line = bytes[..<min(at, bytes.count)].count { $0 == UInt8(ascii: "\n") } + 1
        return ArchiveFailure("line \(line) of the XML property list: \(message)")
    }

    /// The next tag, or nil at the end; only white space may precede it.
    mutating func tag() throws(ArchiveFailure) -> Tag? {
        while true {
            while at < bytes.count, Self.isSpace(bytes[at]) { at += 1 }
            guard at < bytes.count else { return nil }
            guard bytes[at] == UInt8(ascii: "<") else { throw fault("unexpected text") }
            if starts("<!--") {
                try skip(past: "-->")
            } else if starts("<?") {
                try skip(past: "?>")
            } else if starts("<!DOCTYPE") {
                let start = at
                try skip(past: ">")
                guard !bytes[start..<at].contains(UInt8(ascii: "[")) else {
                    throw fault("a document type with definitions of its own is refused")
                }
            } else {
                return try element()
            }
        }
    }

    private mutating func element() throws(ArchiveFailure) -> Tag {
        let start = at + 1
        try skip(past: ">")
        var inside = bytes[start..<at - 1]
        if inside.first == UInt8(ascii: "/") {
            return .end(Self.name(inside.dropFirst()))
        }
        let isEmpty = inside.last == UInt8(ascii: "/")
        if isEmpty { inside.removeLast() }
        return .start(Self.name(inside), isEmpty: isEmpty)
    }

    private static func name(_ inside: ArraySlice<UInt8>) -> String {
        String(decoding: inside.prefix { !isSpace($0) }, as: UTF8.self)
    }

    /// Character data up to the next tag, with entities and CDATA resolved.
    mutating func text() throws(ArchiveFailure) -> String {
        var text: [UInt8] = []
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "<"):
                if starts("<![CDATA[") {
                    let start = at + 9
                    try skip(past: "]]>")
                    text += bytes[start..<at - 3]
                } else if starts("<!--") {
                    try skip(past: "-->")
                } else {
                    return String(decoding: text, as: UTF8.self)
                }
            case UInt8(ascii: "&"): text += String(try entity()).utf8
            default:
                text.append(bytes[at])
                at += 1
            }
        }
        throw fault("the text is cut off")
    }

    private mutating func entity() throws(ArchiveFailure) -> Character {
        let name = bytes[(at + 1)...].prefix(10).prefix { $0 != UInt8(ascii: ";") }
        let text = String(decoding: name, as: UTF8.self)
        let known: [String: Character] = [
            "lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'",
        ]
        let number =
            text.hasPrefix("#x")
            ? UInt32(text.dropFirst(2), radix: 16)
            : text.hasPrefix("#") ? UInt32(text.dropFirst()) : nil
        guard name.endIndex < bytes.count, bytes[name.endIndex] == UInt8(ascii: ";"),
            let character = known[text]
                ?? number.flatMap(Unicode.Scalar.init).map(Character.init)
        else { throw fault("&\(text) is no character of XML") }
        at = name.endIndex + 1
        return character
    }

    private func starts(_ text: StaticString) -> Bool {
        bytes[at...].starts(
            with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Moves past the next occurrence of a text.
    private mutating func skip(past end: StaticString) throws(ArchiveFailure) {
        let first = end.utf8Start.pointee
        while at < bytes.count {
            if bytes[at] == first, starts(end) {
                at += end.utf8CodeUnitCount
                return
            }
            at += 1
        }
        throw fault("it is cut off")
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}
