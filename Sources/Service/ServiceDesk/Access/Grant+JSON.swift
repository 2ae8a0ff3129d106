import JSONText
import Objects

/// Names and roles as tokens files, signed tokens and other nodes have them.
extension JSONView {
    /// The names in a member; nil when the member is missing.
    func strings(_ name: StaticString) throws(ServiceFailure) -> Set<String>? {
        guard let value = self[name] else { return nil }
        let strings = value.kind == .array ? value.elements.map(\.string) : [nil]
        guard !strings.contains(nil) else {
            throw ServiceFailure(.invalidInputData, "expected an array of strings", at: "\(name)")
        }
        return Set(strings.compactMap(\.self))
    }

    /// The member `role`; nil when it is missing.
    func role() throws(ServiceFailure) -> Grant.Role? {
        guard let value = self["role"] else { return nil }
        return try Grant.Role(value, at: "role")
    }

    /// The member `buckets`: names in an array, or in an object with the role for each. Nil when it is
    /// missing.
    func buckets() throws(ServiceFailure) -> (names: Set<String>?, roles: [String: Grant.Role]) {
        guard let value = self["buckets"], value.kind == .object else {
            return (try strings("buckets"), [:])
        }
        var roles: [String: Grant.Role] = [:]
        for member in value.members {
            let name = String(decoding: member.name, as: UTF8.self)
            let role = try Grant.Role(member.value, at: "buckets.\(name)")
            guard roles.updateValue(role, forKey: name) == nil else {
                throw ServiceFailure(
                    .invalidInputData, "\(quoted(name)) stands here twice", at: "buckets")
            }
        }
        return (Set(roles.keys), roles)
    }
}

extension Grant.Role {
    fileprivate init(_ value: JSONView, at path: String) throws(ServiceFailure) {
        guard let role = value.string.flatMap(Self.init) else {
            let names = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw ServiceFailure(
                .invalidInputData, "expected a role, one of \(names)", at: path)
        }
        self = role
    }
}

extension Grant {
    /// Appends the member `buckets`, if the grant is bound to some.
    func writeBuckets(to writer: inout JSONWriter) {
        guard let holdsFor else { return }
        writer.key("buckets")
        guard !roles.isEmpty else {
            writer.byte(UInt8(ascii: "["))
            writer.list(holdsFor.sorted()) { $1.string($0) }
            return writer.byte(UInt8(ascii: "]"))
        }
        writer.byte(UInt8(ascii: "{"))
        writer.list(roles.sorted { $0.key < $1.key }) { entry, writer in
            writer.string(entry.key)
            writer.byte(UInt8(ascii: ":"))
            writer.string(entry.value.rawValue)
        }
        writer.byte(UInt8(ascii: "}"))
    }
}
