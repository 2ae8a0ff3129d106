import JSONText
import Objects

/// A caller on the way from the node that admits its requests to the node that carries them out.
extension Caller {
    /// What the other node has to know: the address, and what the login permits.
    ///
    ///     {"address":"10.0.0.1","principal":"alice","role":"write","groups":["drivers"]}
    public func writePassedOn(to writer: inout JSONWriter) {
        writer.raw("{\"address\":")
        writer.string(address)
        if let anonymous {
            writer.key("anonymous")
            writer.string(anonymous.rawValue)
        }
        if let grant {
            writer.key("principal")
            writer.string(grant.principal)
            writer.key("role")
            writer.string(grant.role.rawValue)
            writer.raw(",\"groups\":[")
            writer.list(grant.groups.sorted()) { $1.string($0) }
            writer.byte(UInt8(ascii: "]"))
            grant.writeBuckets(to: &writer)
        }
        writer.byte(UInt8(ascii: "}"))
    }

    /// The caller that another node has described; nil if it cannot be read.
    public convenience init?(passedOn text: [UInt8]) {
        let parser = JSONParser()
        guard let view = try? parser.parse(text), let address = view["address"]?.string else {
            return nil
        }
        defer { withExtendedLifetime(parser) {} }
        guard let principal = view["principal"]?.string else {
            let anonymous = view["anonymous"]?.string
            let access = anonymous.flatMap(AnonymousAccess.init)
            if anonymous != nil, access == nil { return nil }
            self.init(passedOnWith: nil, address: address, anonymous: access)
            return
        }
        guard let (buckets, roles) = try? view.buckets(), let role = try? view.role(),
            let grant = try? Grant(
                principal: principal, role: role, groups: (try? view.strings("groups")) ?? [],
                holdsFor: buckets, roles: roles)
        else { return nil }
        self.init(passedOnWith: grant, address: address)
    }
}
