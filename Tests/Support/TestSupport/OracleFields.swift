import JSONText

/// How the specification reads an object: names, paths, equality.
extension JSONValue {
    /// The code points: what strings are compared as.
    static func codePoints(_ text: String) -> [UInt32] { text.unicodeScalars.map(\.value) }

    /// The value that a field path names: a first-level name that is the whole path, else the way
    /// from dot to dot; of duplicates the last.
    public func field(_ path: String) -> JSONValue? {
        if let whole = self[path] { return whole }
        var parts: [String] = [""]
        for scalar in path.unicodeScalars {
            if scalar == "." {
                parts.append("")
            } else {
                parts[parts.count - 1].unicodeScalars.append(scalar)
            }
        }
        guard parts.count > 1 else { return nil }
        var value = self
        for part in parts {
            guard let inner = value[part] else { return nil }
            value = inner
        }
        return value
    }

    /// Whether both are the same JSON: strings by code point, numbers by value and by being an
    /// integer literal or not, of duplicate names the last, the order of names left aside.
    public func isIdentical(to other: JSONValue) -> Bool {
        switch (nearest, other.nearest) {
        case (.null, .null): return true
        case (.bool(let a), .bool(let b)): return a == b
        case (.number(let a), .number(let b)): return Self.isIdentical(a, b)
        case (.string(let a), .string(let b)): return a.utf8.elementsEqual(b.utf8)
        case (.array(let a), .array(let b)):
            return a.count == b.count && zip(a, b).allSatisfy { $0.isIdentical(to: $1) }
        case (.object, .object):
            let names = Set(names.map(Self.codePoints))
            guard names == Set(other.names.map(Self.codePoints)) else { return false }
            return self.names.allSatisfy { self[$0]!.isIdentical(to: other[$0]!) }
        default: return false
        }
    }

    private static func isIdentical(_ a: JSONNumber, _ b: JSONNumber) -> Bool {
        switch (a, b) {
        case (.decimal(let x), .decimal(let y)): return x.bitPattern == y.bitPattern
        case (.integer(let x), .integer(let y)): return x == y
        case (.unsigned(let x), .unsigned(let y)): return x == y
        default: return false
        }
    }

    /// Whether something in it claims to be a GeoPoint and is none: what no write may contain.
    public var hasMalformedPoint: Bool {
        switch self {
        case .array(let elements): return elements.contains { $0.hasMalformedPoint }
        case .object(let members):
            if members.contains(where: { $0.value.hasMalformedPoint }) { return true }
            guard self["_type"]?.string == "point" else { return false }
            guard Set(names) == ["_type", "lat", "lon"], let position = OraclePosition(self) else {
                return true
            }
            return abs(position.latitude) > 90 || abs(position.longitude) > 180
        default: return false
        }
    }

    /// RFC 7396, word for word.
    public func merged(with patch: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var members: [Member] = []
        if case .object(let old) = self { members = old }
        for name in changes.map(\.name) {
            let change = patch[name]!
            let old = members.last { $0.name.utf8.elementsEqual(name.utf8) }
            members.removeAll { $0.name.utf8.elementsEqual(name.utf8) }
            if case .null = change { continue }
            members.append(Member(name, (old?.value ?? .null).merged(with: change)))
        }
        return .object(members)
    }
}
