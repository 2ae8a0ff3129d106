import JSONText
import Objects

/// The tokens that a service knows: the grant and a digest of each; no secret.
///
///     {"tokens":[{"id":"3f9a2c11d04e","sha256":"…","principal":"alice","role":"write"}]}
///
/// Further members of a token: `groups` (an array of names), `buckets` (an array of names, or an object
/// with the role for each), `quota` (of `users/alice`: `objects`, `bytes`, `buckets`), `created` and
/// `expires` (milliseconds since 1970). With roles in `buckets`,
/// `role` may be missing: it is the strongest of them.
public struct TokenFile: Sendable, Equatable {
    /// A token of the file: its grant and its digest.
    public struct Entry: Sendable, Equatable {
        /// The token's public id, unique in the file.
        public let id: String
        let digest: TokenDigest
        /// What a login with the token permits.
        public let grant: Grant
        /// The most that the principal's own scope may hold; nil is what others may.
        public let quota: Quota?
        /// Milliseconds since 1970.
        public let created: Int64

        /// An entry for a token, without its secret; `created` is in milliseconds since 1970.
        public init(_ token: Token, _ grant: Grant, quota: Quota? = nil, created: Int64) {
            self.init(
                id: token.id, digest: token.digest, grant: grant, quota: quota, created: created)
        }

        fileprivate init(
            id: String, digest: TokenDigest, grant: Grant, quota: Quota?, created: Int64
        ) {
            self.id = id
            self.digest = digest
            self.grant = grant
            self.quota = quota
            self.created = created
        }
    }

    /// In the order of their creation.
    public private(set) var entries: [Entry] = []
    private var indices: [String: Int] = [:]

    /// A file without tokens.
    public init() {}

    /// The quotas of principals: of several tokens of one the least of each bound.
    public var quotas: [String: Quota] {
        entries.reduce(into: [:]) { quotas, entry in
            guard let quota = entry.quota else { return }
            let principal = entry.grant.principal
            quotas[principal] = quotas[principal]?.least(quota) ?? quota
        }
    }

    /// The entry of a token; nil when no token has the id. O(1).
    public subscript(id id: String) -> Entry? { indices[id].map { entries[$0] } }

    /// - Precondition: no other token has the id.
    public mutating func add(_ entry: Entry) {
        precondition(indices[entry.id] == nil, "the token \(entry.id) stands here twice")
        indices[entry.id] = entries.count
        entries.append(entry)
    }

    /// - Returns: whether the token existed.
    public mutating func remove(id: String) -> Bool {
        guard let index = indices.removeValue(forKey: id) else { return false }
        entries.remove(at: index)
        for later in entries[index...] { indices[later.id]! -= 1 }
        return true
    }
}

// MARK: As JSON

/// What is wrong with a tokens file or a key set, and where.
public struct TokenFileFault: Error, Equatable, CustomStringConvertible {
    /// The place and the fault, such as `tokens[0]: expected an object`.
    public let description: String
}

extension TokenFile {
    /// - Throws: `TokenFileFault`; one fault refuses the whole text.
    public init(json: [UInt8]) throws {
        do {
            try JSONParser.reading(json) { try read($0) }
        } catch let error as JSONSyntaxError {
            throw TokenFileFault(description: error.message)
        } catch let failure as ServiceFailure {
            throw TokenFileFault(description: "\(failure.path ?? ""): \(failure.message)")
        }
    }

    private mutating func read(_ file: JSONView) throws {
        guard let tokens = file["tokens"], tokens.kind == .array else {
            throw TokenFileFault(description: "expected an object with an array \"tokens\"")
        }
        for (index, token) in zip(0..., tokens.elements) {
            let reader = EntryReader(token: token, path: "tokens[\(index)]")
            let entry = try reader.entry()
            guard self[id: entry.id] == nil else { throw reader.fault("the id stands here twice") }
            add(entry)
        }
    }

    /// The file's text in UTF-8, one token a line; `init(json:)` reads it.
    ///
    /// - Complexity: O(length of the text) for each call.
    public var json: [UInt8] {
        var writer = JSONWriter()
        writer.raw("{\"tokens\":[")
        writer.list(entries) { entry, writer in
            writer.raw("\n{\"id\":")
            writer.string(entry.id)
            writer.key("sha256")
            writer.string(entry.digest.text)
            writer.key("principal")
            writer.string(entry.grant.principal)
            writer.key("role")
            writer.string(entry.grant.role.rawValue)
            if !entry.grant.groups.isEmpty { Self.write("groups", entry.grant.groups, &writer) }
            entry.grant.writeBuckets(to: &writer)
            if let quota = entry.quota {
                writer.key("quota")
                quota.write(to: &writer)
            }
            writer.key("created")
            writer.integer(entry.created)
            if let expires = entry.grant.expires {
                writer.key("expires")
                writer.integer(expires)
            }
            writer.byte(UInt8(ascii: "}"))
        }
        writer.raw("\n]}\n")
        return writer.bytes
    }

    private static func write(
        _ name: StaticString, _ names: Set<String>, _ writer: inout JSONWriter
    ) {
        writer.key(name)
        writer.byte(UInt8(ascii: "["))
        writer.list(names.sorted()) { $1.string($0) }
        writer.byte(UInt8(ascii: "]"))
    }
}

/// One token of the file.
private struct EntryReader {
    let token: JSONView
    let path: String

    private static let names: Set<String> = [
        "id", "sha256", "principal", "role", "groups", "buckets", "quota", "created", "expires",
    ]

    func fault(_ message: String) -> TokenFileFault {
        TokenFileFault(description: "\(path): \(message)")
    }

    func entry() throws -> TokenFile.Entry {
        guard token.kind == .object else { throw fault("expected an object") }
        for member in token.members {
            let name = String(decoding: member.name, as: UTF8.self)
            guard Self.names.contains(name) else { throw fault("\(quoted(name)) is not known") }
        }
        guard let id = token["id"]?.string, let principal = token["principal"]?.string else {
            throw fault("expected \"id\" and \"principal\"")
        }
        guard let digest = token["sha256"]?.string.flatMap(TokenDigest.init(hexadecimal:)) else {
            throw fault("expected \"sha256\", 64 hexadecimal digits")
        }
        do throws(ServiceFailure) {
            let (buckets, roles) = try token.buckets()
            let grant = try Grant(
                principal: principal, role: try token.role(),
                groups: try token.strings("groups") ?? [], holdsFor: buckets, roles: roles,
                expires: try milliseconds("expires"))
            return TokenFile.Entry(
                id: id, digest: digest, grant: grant, quota: try token["quota"].map(Quota.init),
                created: try milliseconds("created") ?? 0)
        } catch {
            throw fault("\(error.path ?? ""): \(error.message)")
        }
    }

    private func milliseconds(_ name: StaticString) throws(ServiceFailure) -> Int64? {
        guard let value = token[name] else { return nil }
        guard let number = value.number?.exactInt else {
            throw ServiceFailure(
                .invalidInputData, "expected milliseconds since 1970", at: "\(name)")
        }
        return Int64(number)
    }
}
