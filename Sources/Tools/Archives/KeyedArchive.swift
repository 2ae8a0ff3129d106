import JSONText

/// An archive that NSKeyedArchiver wrote, binary or XML, read without the classes of its objects.
///
///     let archive = try KeyedArchive(bytes)
///     archive.keys                              // ["root"]
///     try archive.value(forKey: "root").text    // [{"name":"Kiosk","open":true}]
///     try archive.value(forKey: "count").decode(Int16.self)
///
/// Values of Foundation's classes become the JSON values with the same meaning:
///
/// | archived | JSON |
/// | --- | --- |
/// | NSString, NSURL, NSUUID | string |
/// | NSNumber, NSDecimalNumber, encoded integers and floating-point numbers | number |
/// | encoded booleans, NSNumber of a BOOL | boolean |
/// | NSDate | number: milliseconds since 1970 |
/// | NSData | string in base64 |
/// | NSArray, NSSet, NSOrderedSet | array |
/// | NSCountedSet | array of objects with `value` and `count` |
/// | NSDictionary | object; keys are strings, numbers or booleans |
/// | NSNull | null; a nil is a missing member |
/// | CLLocation | GeoPoint |
/// | any other class | object with the encoded keys |
///
/// - Complexity: limited by `ArchiveLimits`, whatever the file claims.
public struct KeyedArchive: Sendable {
    /// How instances become JSON.
    public struct Options: Sendable {
        /// Archived class names whose instances get a member with the class's name.
        public var typeFields: [String: String] = [:]
        /// Whether a member is left out that refers back to an object around it: a parent, a
        /// delegate. Without it such an archive is refused.
        public var cutsReferences = false
        /// The limits on the cost of reading.
        public var limits = ArchiveLimits()

        /// No class names, no cuts, and the limits of `ArchiveLimits()`.
        public init() {}
    }

    let list: PropertyList
    /// The indices of the elements of `$objects` in the list.
    let objects: [Int]
    /// The members of `$top`, each with the index of its value in the list.
    private let top: [(key: String, value: Int)]
    private let options: Options

    /// - Throws: `ArchiveFailure` for a file that is not a keyed archive.
    public init(_ bytes: [UInt8], options: Options = Options()) throws(ArchiveFailure) {
        guard bytes.count <= options.limits.fileBytes else {
            throw ArchiveFailure(
                "the file has more than \(options.limits.fileBytes) bytes")
        }
        list = try PropertyList(bytes)
        self.options = options
        var reader = ArchiveReader(list: list, budget: options.limits.values)
        let members = try reader.members(of: list.root, what: "the file")
        func member(_ name: String) throws(ArchiveFailure) -> Int {
            guard let member = members.first(where: { $0.key == name }) else {
                throw ArchiveFailure("this is no keyed archive: it has no \(name)")
            }
            return member.value
        }
        guard case .string(let archiver) = try reader.value(try member("$archiver")),
            archiver == "NSKeyedArchiver"
        else { throw ArchiveFailure("the archive was not written by NSKeyedArchiver") }
        guard case .number(.integer(100_000)) = try reader.value(try member("$version")) else {
            throw ArchiveFailure("the archive's version is not 100000, the only one known")
        }
        guard case .array(let objects) = try reader.value(try member("$objects")) else {
            throw ArchiveFailure("$objects is no array")
        }
        self.objects = objects
        top = try reader.members(of: try member("$top"), what: "$top")
    }

    /// The top-level keys, sorted; the key of a single root object is `root`.
    public var keys: [String] { top.map(\.key).sorted() }

    /// The value of a top-level key.
    ///
    /// - Throws: `ArchiveFailure` with the path, for cycles, dangling references, values that JSON
    ///   cannot represent, and work beyond the limits.
    public func value(forKey key: String) throws(ArchiveFailure) -> JSONValue {
        var cutReferences = 0
        return try value(forKey: key, cutReferences: &cutReferences)
    }

    /// The value of a top-level key.
    ///
    /// - Parameter cutReferences: grows by the number of members that `Options.cutsReferences` left
    ///   out.
    /// - Throws: `ArchiveFailure` as `value(forKey:)`.
    public func value(
        forKey key: String, cutReferences: inout Int
    ) throws(ArchiveFailure) -> JSONValue {
        var decoder = ArchiveDecoder(self, options: options, path: key)
        let value = try decoder.value(at: try position(of: key), key: key)
        cutReferences += decoder.cutReferences
        return value
    }

    /// The same, but an array or set at the top is split into its elements; any other value is one
    /// element.
    ///
    /// - Throws: `ArchiveFailure` if no element can be read.
    func elements(
        forKey key: String, cutReferences: inout Int
    ) throws(ArchiveFailure) -> [(path: String, value: Result<JSONValue, ArchiveFailure>)] {
        var decoder = ArchiveDecoder(self, options: options, path: key, keepsOtherElements: true)
        let value = try decoder.value(at: try position(of: key), key: key)
        cutReferences += decoder.cutReferences
        guard let elements = value.array else { return [(key, .success(value))] }
        return elements.enumerated().map { index, element in
            let failure = decoder.elementFailures[index]
            return ("\(key)[\(index)]", failure.map { .failure($0) } ?? .success(element))
        }
    }

    private func position(of key: String) throws(ArchiveFailure) -> Int {
        guard let position = top.first(where: { $0.key == key })?.value else {
            throw ArchiveFailure("the archive has no \(key) at its top; it has \(keyList)")
        }
        return position
    }

    /// `"a", "b"`
    var keyList: String { keys.map { "\"\($0)\"" }.joined(separator: ", ") }
}

/// Reads values of a property list and counts them.
struct ArchiveReader {
    let list: PropertyList
    var budget: Int

    mutating func value(_ index: Int) throws(ArchiveFailure) -> PropertyList.Value {
        try list.value(at: index, budget: &budget)
    }

    /// The members of a dictionary with strings for keys.
    mutating func members(
        of index: Int, what: String
    ) throws(ArchiveFailure) -> [(key: String, value: Int)] {
        guard case .dictionary(let members) = try value(index) else {
            throw ArchiveFailure("\(what) is no dictionary")
        }
        var result: [(key: String, value: Int)] = []
        for member in members {
            guard case .string(let key) = try value(member.key) else {
                throw ArchiveFailure("a key of \(what) is no string")
            }
            result.append((key, member.value))
        }
        return result
    }
}
