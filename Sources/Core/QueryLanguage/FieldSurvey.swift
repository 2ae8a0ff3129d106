import Objects
import PlainJSON

/// The field paths of some objects, and how many of them have values of which types there.
///
/// Predefined fields are left out. Objects inside objects are entered, arrays and GeoPoints are not.
/// What no path reaches is left out too: names with a dot inside objects, and nested fields whose path
/// is the name of a first-level field.
///
/// A path is known by the hash of its parent's hash and its name, so each name is read once, however
/// long the paths are that lead through it.
public struct FieldSurvey: Sendable {
    /// The most paths that are listed; those that are met first.
    public static let pathLimit = 1_000
    /// Bytes of the longest path that is listed.
    public static let pathBytes = 500

    /// Places in `fields` by the hashes of the paths.
    private var numbers: [Int: Int] = [:]
    private var fields: [(path: [UInt8], counts: [Int], wide: Int)] = []
    /// How many values were met at paths that are not listed.
    public private(set) var omitted = 0

    /// A survey of no objects yet.
    public init() {}

    /// Adds the fields of an object, as clients read it. O(bytes of its names).
    public mutating func add(_ object: JSONView) {
        var dotted: [Int: [UInt8]] = [:]
        for member in object.members {
            let isShort = member.name.count <= Self.pathBytes
            guard isShort, member.name.contains(Self.dot) else { continue }
            let name = Array(member.name)
            dotted[Self.hash(of: name)] = name
        }
        for member in object.members where member.name.first != UInt8(ascii: "_") {
            guard member.name.count <= Self.pathBytes else {
                omitted += 1
                continue
            }
            let name = Array(member.name)
            let hash = Self.hash(of: name)
            guard let number = number(hash, { $0 == name }, { name }) else { continue }
            // A first-level field with a dot in its name has no parts.
            count(member.value, number)
            if !name.contains(Self.dot) { enter(member.value, number, hash, besides: dotted) }
        }
    }

    private static let dot = UInt8(ascii: ".")

    private mutating func count(_ value: JSONView, _ number: Int) {
        guard let type = FieldType.allCases.firstIndex(where: value.isOfType) else { return }
        fields[number].counts[type] += 1
        if FieldType.allCases[type] == .integer,
            value.number?.exactInt.flatMap(Int32.init(exactly:)) == nil
        {
            fields[number].wide += 1
        }
    }

    /// Adds what is inside an object.
    ///
    /// - Parameter dotted: the names with a dot of first-level fields, by their hashes.
    private mutating func enter(
        _ value: JSONView, _ number: Int, _ hash: Int, besides dotted: [Int: [UInt8]]
    ) {
        guard value.isOfType(.object) else { return }
        // Of duplicates the last counts.
        var hashes: [Int] = []
        var last: [Int: Int] = [:]
        for (position, member) in zip(0..., value.members) {
            hashes.append(Self.hash(member.name, in: hash))
            last[hashes[position]] = position
        }
        for (position, member) in zip(0..., value.members) {
            let (inner, name) = (hashes[position], member.name)
            guard last[inner] == position, !name.contains(Self.dot) else { continue }
            let parent = fields[number].path
            guard parent.count + 1 + name.count <= Self.pathBytes else {
                omitted += 1
                continue
            }
            func isSame(_ path: [UInt8]) -> Bool {
                path.count == parent.count + 1 + name.count && path.starts(with: parent)
                    && path[(parent.count + 1)...].elementsEqual(name)
            }
            if let hidden = dotted[inner], isSame(hidden) { continue }
            guard let place = self.number(inner, isSame, { parent + [Self.dot] + name })
            else { continue }
            count(member.value, place)
            enter(member.value, place, inner, besides: dotted)
        }
    }

    private static func hash(_ name: some Sequence<UInt8>, in parent: Int) -> Int {
        var hasher = Hasher()
        hasher.combine(parent)
        let isHashed: Void? = name.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isHashed == nil { for byte in name { hasher.combine(byte) } }
        return hasher.finalize()
    }

    private static func hash(of path: [UInt8]) -> Int {
        path.split(separator: dot, omittingEmptySubsequences: false).reduce(0) { hash($1, in: $0) }
    }

    /// The place of a path; nil if it is not listed.
    private mutating func number(
        _ hash: Int, _ isSame: ([UInt8]) -> Bool, _ path: () -> [UInt8]
    ) -> Int? {
        if let known = numbers[hash], isSame(fields[known].path) { return known }
        guard fields.count < Self.pathLimit, numbers[hash] == nil else {
            omitted += 1
            return nil
        }
        numbers[hash] = fields.count
        fields.append((path(), Array(repeating: 0, count: FieldType.allCases.count), 0))
        return fields.count - 1
    }

    /// The paths that are listed.
    public var paths: some Sequence<String> {
        fields.lazy.map { String(decoding: $0.path, as: UTF8.self) }
    }

    /// The types that values have at a path; none if it is not listed.
    public func types(at path: FieldPath) -> Set<FieldType> {
        guard let number = numbers[Self.hash(of: path.utf8)], fields[number].path == path.utf8
        else { return [] }
        return Set(
            zip(FieldType.allCases, fields[number].counts).filter { $0.1 > 0 }.map(\.0))
    }

    /// Appends an array with a path, its types, the most frequent first, and the number of its whole
    /// numbers beyond 32 bits, if there are any, for each field, as many as fit.
    public func write(to writer: inout JSONWriter, maximumBytes: Int) {
        let start = writer.count
        writer.byte(UInt8(ascii: "["))
        for (position, field) in fields.enumerated() {
            let before = writer.count
            if position > 0 { writer.byte(UInt8(ascii: ",")) }
            writer.raw("{\"field\":")
            writer.string(field.path)
            writer.raw(",\"types\":{")
            let types = field.counts.indices.filter { field.counts[$0] > 0 }
                .sorted { (field.counts[$0], $1) > (field.counts[$1], $0) }
            writer.list(types) { type, writer in
                writer.string(FieldType.allCases[type].rawValue)
                writer.byte(UInt8(ascii: ":"))
                writer.integer(field.counts[type])
            }
            writer.raw("}")
            if field.wide > 0 {
                writer.key("wide")
                writer.integer(field.wide)
            }
            writer.raw("}")
            if writer.count - start >= maximumBytes {
                writer.truncate(to: before)
                break
            }
        }
        writer.byte(UInt8(ascii: "]"))
    }
}
