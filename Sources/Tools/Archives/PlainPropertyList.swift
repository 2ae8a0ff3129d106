import JSONText

/// A property list that is no keyed archive: an array or a dictionary of dictionaries, or the
/// defaults of an application, in which archives may lie as data.
struct PlainPropertyList {
    /// The objects with their places in the list.
    private(set) var values: [(path: String, value: Result<JSONValue, ArchiveFailure>)] = []
    /// The archive under the key that was asked for.
    private(set) var archive: [UInt8]?
    private let list: PropertyList
    private let depth: Int
    private var budget: Int

    /// Nil for a keyed archive.
    init?(_ bytes: [UInt8], options: ArchivedRecords.Options) throws(ArchiveFailure) {
        guard bytes.count <= options.archive.limits.fileBytes else {
            throw ArchiveFailure("the file has more than \(options.archive.limits.fileBytes) bytes")
        }
        list = try PropertyList(bytes)
        (depth, budget) = (options.archive.limits.depth, options.archive.limits.values)
        var reader = ArchiveReader(list: list, budget: budget)
        guard case .dictionary = try reader.value(list.root) else {
            try readElements(of: list.root, path: "root")
            return
        }
        let members = try reader.members(of: list.root, what: "the file")
        if members.contains(where: { $0.key.hasPrefix("$") }) { return nil }
        guard options.keys.isEmpty else {
            for key in options.keys { try read(key, members) }
            return
        }
        try readAll(members)
    }

    private mutating func readAll(
        _ members: [(key: String, value: Int)]
    ) throws(ArchiveFailure) {
        var archives: [String] = []
        var areDictionaries = !members.isEmpty
        for member in members {
            switch try list.value(at: member.value, budget: &budget) {
            case .data(let bytes) where Self.isList(bytes): archives.append(member.key)
            case .dictionary: continue
            default: break
            }
            areDictionaries = false
        }
        guard archives.isEmpty else {
            let names = archives.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
            throw ArchiveFailure(
                "the property list has archives as data; --key reads one of them: \(names)")
        }
        guard areDictionaries else {
            values.append(("root", result(of: list.root, path: "root")))
            return
        }
        for member in members { append(member.value, key: member.key, path: member.key) }
    }

    private static func isList(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: BinaryPropertyList.magic) || bytes.starts(with: Array("<?xml".utf8))
    }

    private mutating func read(
        _ key: String, _ members: [(key: String, value: Int)]
    ) throws(ArchiveFailure) {
        guard let member = members.first(where: { $0.key == key }) else {
            let names = members.map { "\"\($0.key)\"" }.sorted().joined(separator: ", ")
            throw ArchiveFailure("the property list has no \(key) at its top; it has \(names)")
        }
        switch try list.value(at: member.value, budget: &budget) {
        case .data(let bytes) where Self.isList(bytes):
            guard archive == nil else {
                throw ArchiveFailure("only one archive inside a property list is read at a time")
            }
            archive = bytes
        default: try readElements(of: member.value, path: key)
        }
    }

    /// The elements of an array, the dictionaries of a dictionary, or one value.
    private mutating func readElements(of index: Int, path: String) throws(ArchiveFailure) {
        switch try list.value(at: index, budget: &budget) {
        case .array(let elements):
            for (number, element) in elements.enumerated() {
                let path = "\(path)[\(number)]"
                values.append((path, result(of: element, path: path)))
            }
        case .dictionary:
            var reader = ArchiveReader(list: list, budget: budget)
            let members = try reader.members(of: index, what: path)
            var areDictionaries = !members.isEmpty
            for member in members {
                guard case .dictionary = try reader.value(member.value) else {
                    areDictionaries = false
                    break
                }
            }
            guard areDictionaries else { fallthrough }
            for member in members {
                append(member.value, key: member.key, path: "\(path).\(member.key)")
            }
        default: values.append((path, result(of: index, path: path)))
        }
    }

    /// A dictionary under a key, which is its id unless it has one.
    private mutating func append(_ index: Int, key: String, path: String) {
        let value = result(of: index, path: path).map { value in
            value["_id"] != nil
                ? value : .object([JSONValue.Member("_id", .string(key))] + value.members)
        }
        values.append((path, value))
    }

    private mutating func result(
        of index: Int, path: String
    ) -> Result<JSONValue, ArchiveFailure> {
        do throws(ArchiveFailure) {
            return .success(try value(index, path, depth))
        } catch {
            return .failure(error)
        }
    }

    private mutating func value(
        _ index: Int, _ path: String, _ depth: Int
    ) throws(ArchiveFailure) -> JSONValue {
        guard depth > 0 else {
            throw ArchiveFailure("is nested deeper than \(self.depth) levels", at: path)
        }
        switch try list.value(at: index, budget: &budget) {
        case .null: return .null
        case .bool(let bool): return .bool(bool)
        case .number(let number):
            guard number.double.isFinite else {
                throw ArchiveFailure("is a number that JSON does not have", at: path)
            }
            return .number(number)
        case .date(let seconds):
            let milliseconds = (seconds + 978_307_200) * 1_000
            guard let whole = Int64(exactly: milliseconds.rounded()) else {
                throw ArchiveFailure("is no date that has milliseconds in 64 bits", at: path)
            }
            return .number(.integer(whole))
        case .data(let bytes): return .string(Base64.encoded(bytes))
        case .string(let text): return .string(text)
        case .uid: throw ArchiveFailure("is a reference outside of an archive", at: path)
        case .array(let elements):
            var values: [JSONValue] = []
            for (number, element) in elements.enumerated() {
                values.append(try value(element, "\(path)[\(number)]", depth - 1))
            }
            return .array(values)
        case .dictionary:
            var reader = ArchiveReader(list: list, budget: budget)
            let members = try reader.members(of: index, what: path)
            budget = reader.budget
            var values: [JSONValue.Member] = []
            for member in members {
                values.append(
                    JSONValue.Member(
                        member.key, try value(member.value, "\(path).\(member.key)", depth - 1)))
            }
            return .object(values)
        }
    }
}
