import JSONText

/// The classes of Foundation whose archived form is known.
enum FoundationClass {
    case list, countedSet, dictionary, string, date, data, null, uuid, url, decimal

    init?(_ name: String) {
        switch name {
        case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet",
            "NSMutableOrderedSet":
            self = .list
        case "NSCountedSet": self = .countedSet
        case "NSDictionary", "NSMutableDictionary": self = .dictionary
        case "NSString", "NSMutableString": self = .string
        case "NSDate": self = .date
        case "NSData", "NSMutableData": self = .data
        case "NSNull": self = .null
        case "NSUUID": self = .uuid
        case "NSURL": self = .url
        case "NSDecimalNumber": self = .decimal
        default: return nil
        }
    }

    typealias Fields = [(key: String, value: Int)]

    /// Whether the class's own keys are present: a subclass may encode others instead. An empty
    /// collection may have none.
    func isEncoded(as fields: Fields) -> Bool {
        let names =
            switch self {
            case .list: ["NS.object"]
            case .countedSet: ["NS.count", "NS.object"]
            case .dictionary: ["NS.key", "NS.object"]
            default: [""]
            }
        return fields.isEmpty
            || fields.contains { field in names.contains { field.key.hasPrefix($0) } }
    }

    func decode(
        _ fields: Fields, _ decoder: inout ArchiveDecoder
    ) throws(ArchiveFailure) -> ArchiveDecoder.Sized {
        func position(_ key: String) -> Int? { fields.first { $0.key == key }?.value }
        func read(
            _ key: String, _ decoder: inout ArchiveDecoder
        ) throws(ArchiveFailure) -> PropertyList.Value? {
            guard let position = position(key) else { return nil }
            return try decoder.read(position)
        }
        switch self {
        case .list: return try decoder.list(try Self.elements("NS.object", fields, &decoder))
        case .countedSet: return try Self.countedSet(fields, &decoder)
        case .dictionary: return try Self.dictionary(fields, &decoder)
        case .null: return .init(value: .null)
        case .string:
            if let position = position("NS.string"), let text = try decoder.sized(at: position) {
                return text
            }
            if case .data(let bytes)? = try read("NS.bytes", &decoder) {
                return try decoder.made(String(decoding: bytes, as: UTF8.self))
            }
        case .date:
            switch try read("NS.time", &decoder) {
            case .number(let seconds)?: return try decoder.date(seconds.double)
            case .date(let seconds)?: return try decoder.date(seconds)
            default: break
            }
        case .data:
            if let position = position("NS.data"), let data = try decoder.sized(at: position) {
                return data
            }
            if let position = position("NS.bytes"), let data = try decoder.sized(at: position) {
                return data
            }
        case .uuid:
            if case .data(let bytes)? = try read("NS.uuidbytes", &decoder), bytes.count == 16 {
                return .init(value: .string(Self.uuid(bytes)))
            }
        case .url:
            if let own = position("NS.relative"), let relative = try decoder.value(at: own)?.string
            {
                var base: String?
                if let position = position("NS.base") {
                    base = try decoder.value(at: position)?.string
                }
                return try decoder.made(Self.url(relative, base: base))
            }
        case .decimal:
            if let number = try ArchivedDecimal.value(fields, &decoder) { return number }
        }
        throw decoder.failure("an object of a class of Foundation lacks its contents")
    }

    /// `NS.objects`, or `NS.object.0`, `NS.object.1` and so on.
    private static func elements(
        _ name: String, _ fields: Fields, _ decoder: inout ArchiveDecoder
    ) throws(ArchiveFailure) -> [Int] {
        guard let all = fields.first(where: { $0.key == name + "s" })?.value else {
            let numbered = Dictionary(
                fields.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
            var elements: [Int] = []
            while let next = numbered["\(name).\(elements.count)"] { elements.append(next) }
            return elements
        }
        guard case .array(let elements) = try decoder.read(all) else {
            throw decoder.failure("\(name)s is no array")
        }
        return elements
    }

    /// The elements of a counted set, each with its number of occurrences. Foundation writes
    /// `NS.count`, then `NS.object0`, `NS.count0` and so on. If written as a plain set, each
    /// element counts once.
    private static func countedSet(
        _ fields: Fields, _ decoder: inout ArchiveDecoder
    ) throws(ArchiveFailure) -> ArchiveDecoder.Sized {
        let positions = Dictionary(
            fields.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
        guard let total = positions["NS.count"] else {
            let elements = try elements("NS.object", fields, &decoder)
            return try decoder.list(elements) { element, decoder throws(ArchiveFailure) in
                try decoder.counted(element, times: nil)
            }
        }
        var elements: [(object: Int, times: Int?)] = []
        while let object = positions["NS.object\(elements.count)"] {
            elements.append((object, positions["NS.count\(elements.count)"]))
        }
        guard case .number(let number) = try decoder.read(total),
            number.exactInt == elements.count
        else { throw decoder.failure("is a counted set that lacks elements") }
        return try decoder.list(elements) { element, decoder throws(ArchiveFailure) in
            guard let times = element.times else { throw decoder.failure("lacks its count") }
            return try decoder.counted(element.object, times: times)
        }
    }

    private static func dictionary(
        _ fields: Fields, _ decoder: inout ArchiveDecoder
    ) throws(ArchiveFailure) -> ArchiveDecoder.Sized {
        let keys = try elements("NS.key", fields, &decoder)
        let values = try elements("NS.object", fields, &decoder)
        guard keys.count == values.count else {
            throw decoder.failure("has \(keys.count) keys and \(values.count) values")
        }
        var members: Fields = []
        for (key, value) in zip(keys, values) {
            switch try decoder.value(at: key) {
            case .string(let name)?: members.append((name, value))
            case .number(let number)?: members.append((JSONValue.number(number).text, value))
            case .bool(let bool)?: members.append(("\(bool)", value))
            default: throw decoder.failure("a key is neither a string, a number nor a boolean")
            }
        }
        return try decoder.members(members)
    }

    private static func uuid(_ bytes: [UInt8]) -> String {
        let digits = bytes.map { byte in
            let text = String(byte, radix: 16, uppercase: true)
            return byte < 16 ? "0" + text : text
        }
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }
            .joined(separator: "-")
    }

    /// - Reference: RFC 3986, section 5.2.2, without the removal of `.` and `..` (5.2.4).
    private static func url(_ relative: String, base: String?) -> String {
        guard let base, relative.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*:/) == nil else {
            return relative
        }
        let start = base.firstIndex(of: ":").map(base.index(after:)) ?? base.startIndex
        if relative.hasPrefix("//") { return base[..<start] + relative }
        let plain = base.prefix { $0 != "#" }
        if relative.isEmpty || relative.hasPrefix("#") { return plain + relative }
        let path = plain.prefix { $0 != "?" }
        if relative.hasPrefix("?") { return path + relative }
        let rest = path[start...]
        let hasHost = rest.hasPrefix("//")
        let root = hasHost ? rest.dropFirst(2).firstIndex(of: "/") ?? path.endIndex : start
        if relative.hasPrefix("/") { return path[..<root] + relative }
        guard let folder = path[root...].lastIndex(of: "/") else {
            return path[..<root] + (hasHost ? "/" : "") + relative
        }
        return path[...folder] + relative
    }
}
