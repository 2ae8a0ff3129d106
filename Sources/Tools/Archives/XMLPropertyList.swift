import JSONText

/// The XML form, read in one pass without recursion: only the XML that property lists use. A
/// document type with its own definitions is refused, so there are no entities to expand.
struct XMLPropertyList {
    private var scanner: XMLScanner
    private var values: [PropertyList.Value] = []
    private var open: [Container] = []

    /// An unfinished container: the indices of its elements, or of its keys and values alternately.
    private struct Container {
        let isDictionary: Bool
        var parts: [Int] = []
        var expectsKey: Bool { isDictionary && parts.count % 2 == 0 }
    }

    /// Every value of the list; the last is the outermost.
    static func values(of bytes: [UInt8]) throws(ArchiveFailure) -> [PropertyList.Value] {
        var list = XMLPropertyList(scanner: XMLScanner(try XMLEncoding.utf8(bytes)))
        try list.read()
        return list.values
    }

    private mutating func read() throws(ArchiveFailure) {
        guard case .start("plist", isEmpty: false)? = try scanner.tag() else {
            throw ArchiveFailure("this is no property list, neither binary nor XML")
        }
        repeat {
            guard let tag = try scanner.tag() else {
                throw ArchiveFailure("the XML property list is cut off")
            }
            switch tag {
            case .start(let name, let isEmpty): try start(name, isEmpty)
            case .end(let name): try end(name)
            }
        } while !open.isEmpty
        guard case .end("plist")? = try scanner.tag() else {
            throw scanner.fault("expected </plist>")
        }
    }

    private mutating func start(_ name: String, _ isEmpty: Bool) throws(ArchiveFailure) {
        guard (name == "key") == (open.last?.expectsKey ?? false) else {
            throw scanner.fault(
                name == "key" ? "<key> outside a dictionary" : "expected <key>, found <\(name)>")
        }
        if name == "array" || name == "dict" {
            open.append(Container(isDictionary: name == "dict"))
            if isEmpty { try end(name) }
            return
        }
        let text = isEmpty ? "" : try scanner.text()
        let value = try leaf(name, text)
        if !isEmpty {
            guard case .end(name)? = try scanner.tag() else {
                throw scanner.fault("expected </\(name)>")
            }
        }
        append(value)
    }

    private mutating func end(_ name: String) throws(ArchiveFailure) {
        guard let container = open.popLast(), name == (container.isDictionary ? "dict" : "array")
        else { throw scanner.fault("unexpected </\(name)>") }
        let parts = container.parts
        guard container.isDictionary else { return append(.array(parts)) }
        guard parts.count % 2 == 0 else { throw scanner.fault("a <key> has no value") }
        append(
            try reference(parts)
                ?? .dictionary(
                    stride(from: 0, to: parts.count, by: 2).map { (parts[$0], parts[$0 + 1]) }))
    }

    /// `<dict><key>CF$UID</key><integer>7</integer></dict>` is how XML spells a reference.
    private func reference(_ parts: [Int]) throws(ArchiveFailure) -> PropertyList.Value? {
        guard parts.count == 2, case .string("CF$UID") = values[parts[0]],
            case .number(let number) = values[parts[1]]
        else { return nil }
        guard let uid = number.exactInt, uid >= 0 else {
            throw scanner.fault("CF$UID is no whole number from 0")
        }
        return .uid(uid)
    }

    private mutating func append(_ value: PropertyList.Value) {
        values.append(value)
        if !open.isEmpty { open[open.count - 1].parts.append(values.count - 1) }
    }

    /// A sign if there is one, then decimal digits, or hexadecimal ones behind `0x`.
    private static func integer(_ text: String) -> JSONNumber? {
        let isNegative = text.hasPrefix("-")
        var digits = text.dropFirst(isNegative || text.hasPrefix("+") ? 1 : 0)
        let isHexadecimal = digits.hasPrefix("0x") || digits.hasPrefix("0X")
        if isHexadecimal { digits = digits.dropFirst(2) }
        guard digits.first?.isHexDigit == true,
            let magnitude = UInt64(digits, radix: isHexadecimal ? 16 : 10)
        else { return nil }
        guard isNegative else {
            return Int64(exactly: magnitude).map(JSONNumber.integer)
                ?? .unsigned(magnitude)
        }
        return Int64(exactly: -Int128(magnitude)).map(JSONNumber.integer)
    }

    private func leaf(
        _ name: String, _ text: String
    ) throws(ArchiveFailure) -> PropertyList.Value {
        let words = text.split(whereSeparator: \.isWhitespace)
        let trimmed = words.count == 1 ? String(words[0]) : text
        switch name {
        case "string", "key": return .string(text)
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "integer":
            guard let value = Self.integer(trimmed) else {
                throw scanner.fault("\"\(trimmed.prefix(40))\" is no integer of 64 bits")
            }
            return .number(value)
        case "real":
            guard let value = Double(trimmed) else {
                throw scanner.fault("\"\(trimmed.prefix(40))\" is no number")
            }
            return .number(.decimal(value))
        case "date":
            guard let seconds = PropertyListDate.seconds(trimmed) else {
                throw scanner.fault("\"\(trimmed.prefix(40))\" is no date")
            }
            return .date(seconds)
        case "data":
            guard let data = Base64.decoded(text) else {
                throw scanner.fault("<data> is no base64")
            }
            return .data(data)
        default: throw scanner.fault("<\(name.prefix(40))> is no element of a property list")
        }
    }
}
