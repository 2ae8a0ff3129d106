import JSONText
import Objects

/// The field paths of some objects, and how many of them have values of which types there.
///
/// Predefined fields are left out. Objects inside objects are entered, arrays and GeoPoints are not.
/// What no path reaches is left out too: names with a dot inside objects, and nested fields whose path
/// is the name of a first-level field.
public struct FieldSurvey: Sendable {
    /// The most paths that are listed; those that are met first.
    public static let pathLimit = 1_000

    private var paths: [[UInt8]: Int] = [:]
    private var fields: [(path: [UInt8], counts: [Int])] = []

    /// A survey of no objects yet.
    public init() {}

    /// Adds the fields of an object, as clients read it.
    public mutating func add(_ object: JSONView) {
        var dotted: Set<[UInt8]> = []
        for member in object.members where member.name.contains(Self.dot) {
            dotted.insert(Array(member.name))
        }
        for member in object.members {
            let name = Array(member.name)
            if name.first != UInt8(ascii: "_") { add(member.value, at: name, besides: dotted) }
        }
    }

    private static let dot = UInt8(ascii: ".")

    /// - Parameter dotted: the names with a dot of the object's first-level fields.
    private mutating func add(
        _ value: JSONView, at path: [UInt8], besides dotted: Set<[UInt8]>
    ) {
        guard let number = number(of: path),
            let type = FieldType.allCases.firstIndex(where: value.isOfType)
        else { return }
        fields[number].counts[type] += 1
        guard FieldType.allCases[type] == .object, !dotted.contains(path) else { return }
        // Of duplicates the last counts.
        var last: [[UInt8]: Int] = [:]
        for (position, member) in zip(0..., value.members) { last[Array(member.name)] = position }
        for (position, member) in zip(0..., value.members) where !member.name.contains(Self.dot) {
            let name = Array(member.name)
            let inner = path + [Self.dot] + name
            guard last[name] == position, !dotted.contains(inner) else { continue }
            add(member.value, at: inner, besides: dotted)
        }
    }

    private mutating func number(of path: [UInt8]) -> Int? {
        if let known = paths[path] { return known }
        guard fields.count < Self.pathLimit else { return nil }
        paths[path] = fields.count
        fields.append((path, Array(repeating: 0, count: FieldType.allCases.count)))
        return fields.count - 1
    }

    /// Appends an array with a path and its types, the most frequent first, for each field, as many as
    /// fit.
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
            writer.raw("}}")
            if writer.count - start >= maximumBytes {
                writer.truncate(to: before)
                break
            }
        }
        writer.byte(UInt8(ascii: "]"))
    }
}
