/// Tags, their attributes and text of an XML document in UTF-8, without namespaces and entities of
/// its own.
struct XMLScanner {
    enum Tag: Equatable {
        case start(String, isEmpty: Bool)
        case end(String)
    }

    private let bytes: [UInt8]
    private var at = 0
    private let what: String
    /// What stands in the last start tag behind its name.
    private var inside: ArraySlice<UInt8> = []

    /// - Parameter what: what the document is called in messages.
    init(_ bytes: [UInt8], what: String = "XML property list") {
        (self.bytes, self.what) = (bytes, what)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
    }

    func fault(_ message: String) -> ArchiveFailure {
        let line = bytes[..<min(at, bytes.count)].count { $0 == UInt8(ascii: "\n") } + 1
        return ArchiveFailure("line \(line) of the \(what): \(message)")
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
        try skipTag()
        var inside = bytes[start..<at - 1]
        if inside.first == UInt8(ascii: "/") {
            return .end(Self.name(inside.dropFirst()))
        }
        let isEmpty = inside.last == UInt8(ascii: "/")
        if isEmpty { inside.removeLast() }
        self.inside = inside.drop { !Self.isSpace($0) }
        return .start(Self.name(inside), isEmpty: isEmpty)
    }

    /// Moves past the end of a tag; a `>` in the quotes of an attribute is none.
    private mutating func skipTag() throws(ArchiveFailure) {
        var quote: UInt8?
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            if byte == quote {
                quote = nil
            } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if quote == nil, byte == UInt8(ascii: ">") {
                return
            }
        }
        throw fault("it is cut off")
    }

    /// The attributes of the last start tag.
    func attributes() throws(ArchiveFailure) -> [String: String] {
        var attributes: [String: String] = [:]
        var rest = inside
        while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
            let name = Self.name(rest[..<equals].drop { Self.isSpace($0) })
            let value = rest[(equals + 1)...].drop { Self.isSpace($0) }
            guard let quote = value.first, let end = value.dropFirst().firstIndex(of: quote) else {
                throw fault("the attribute \(name) has no value in quotes")
            }
            var scanner = XMLScanner(
                Array(value[(value.startIndex + 1)..<end]) + [UInt8(ascii: "<")])
            attributes[name] = try scanner.text()
            rest = rest[(end + 1)...]
        }
        return attributes
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
