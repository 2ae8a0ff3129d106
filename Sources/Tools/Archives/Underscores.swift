import JSONText

// Classes encode their instance variables with a leading underscore, which the service reserves.

extension JSONValue {
    /// The value with leading underscores removed from names, at any depth; GeoPoints stay
    /// unchanged.
    ///
    /// - Throws: `ArchiveFailure` with the path inside the value, when a name becomes empty or
    ///   occurs twice.
    func withoutUnderscores() throws(ArchiveFailure) -> JSONValue {
        switch self {
        case .array(let elements):
            var result: [JSONValue] = []
            for (index, element) in elements.enumerated() {
                result.append(
                    try Self.inside("[\(index)]") { () throws(ArchiveFailure) in
                        try element.withoutUnderscores()
                    })
            }
            return .array(result)
        case .object(let members) where self["_type"]?.string != "point":
            return .object(try Self.withoutUnderscores(members))
        default: return self
        }
    }

    private static func withoutUnderscores(
        _ members: [Member]
    ) throws(ArchiveFailure) -> [Member] {
        // By code points: what the service reserves are those, whatever mark follows them.
        let underscore = UInt8(ascii: "_")
        var names = Set(
            members.lazy.map { Array($0.name.utf8) }.filter { $0.first != underscore })
        var result: [Member] = []
        for member in members {
            let name = String(Substring(member.name.utf8.drop { $0 == underscore }))
            if member.name.utf8.first == underscore {
                guard !name.isEmpty else {
                    throw ArchiveFailure("is a name of underscores alone", at: member.name)
                }
                guard names.insert(Array(name.utf8)).inserted else {
                    throw ArchiveFailure(
                        "cannot become \(name), which is there too", at: member.name)
                }
            }
            let value = try inside(member.name) { () throws(ArchiveFailure) in
                try member.value.withoutUnderscores()
            }
            result.append(Member(name, value))
        }
        return result
    }

    /// Runs `body` and prefixes the paths of its failures with `position`.
    private static func inside(
        _ position: String, _ body: () throws(ArchiveFailure) -> JSONValue
    ) throws(ArchiveFailure) -> JSONValue {
        do throws(ArchiveFailure) {
            return try body()
        } catch {
            let rest = error.path.map { $0.hasPrefix("[") ? $0 : ".\($0)" } ?? ""
            throw ArchiveFailure(error.message, at: position + rest)
        }
    }
}
