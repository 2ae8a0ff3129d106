import Objects

/// The permissions of a login: the principal, the role, and the buckets within reach.
///
/// - `users/alice/…` is open to the principal `alice`, `groups/drivers/…` to the members of
///   `drivers`, and both to administrators; all other buckets are open to everyone.
/// - `holdsFor` restricts that further, for administrators too.
public struct Grant: Sendable, Equatable {
    /// What a login permits on the buckets within reach: `read` reads them, `write` also changes
    /// them. `admin` reaches all scopes and may use methods that concern all buckets together.
    public enum Role: String, Sendable, CaseIterable {
        /// Each permits what the one before it permits.
        case read, write, admin
    }

    /// The principal: the `_owner` of the objects it creates, and the `alice` of `users/alice`.
    public var principal: String
    /// The role.
    public var role: Role
    /// The groups that the principal is a member of: `drivers` for `groups/drivers`.
    public var groups: Set<String>
    /// The buckets within reach, and scopes with all their buckets; nil means all.
    public var holdsFor: Set<String>?
    /// When the grant expires, in milliseconds since 1970; nil is never.
    public var expires: Int64?

    /// - Throws: `INVALID_INPUT_DATA` for a name that is no valid scope or bucket.
    public init(
        principal: String, role: Role, groups: Set<String> = [], holdsFor: Set<String>? = nil,
        expires: Int64? = nil
    ) throws(ServiceFailure) {
        _ = try BucketScope("users/" + principal, at: "principal")
        for group in groups { _ = try BucketScope("groups/" + group, at: "groups") }
        for name in holdsFor ?? [] where (try? BucketScope(name, at: "buckets")) == nil {
            _ = try BucketName(name, at: "buckets")
        }
        self.principal = principal
        self.role = role
        self.groups = groups
        self.holdsFor = holdsFor
        self.expires = expires
    }

    func reaches(_ bucket: BucketName) -> Bool {
        guard isOpen(bucket.scope) else { return false }
        guard let holdsFor else { return true }
        return holdsFor.contains(bucket.text) || holdsFor.contains(bucket.scope.text)
    }

    /// The only buckets of a scope that may be within reach, in order; nil if all may.
    func named(in scope: BucketScope) -> [BucketName]? {
        guard let holdsFor, !holdsFor.contains(scope.text) else { return nil }
        return holdsFor.compactMap { try? BucketName($0) }.filter { $0.scope == scope }.sorted()
    }

    /// Whether a bucket of the scope may be within reach. The application's scope is never refused,
    /// even if none of its buckets is within reach.
    func reaches(_ scope: BucketScope) -> Bool {
        guard scope != .application else { return true }
        guard isOpen(scope) else { return false }
        return holdsFor?.contains { $0 == scope.text || $0.hasPrefix(scope.text + "/") } ?? true
    }

    /// Whether the scope is open to the principal by role and membership.
    private func isOpen(_ scope: BucketScope) -> Bool {
        if role == .admin || scope.isCommon { return true }
        let (kind, owner) = scope.parts
        return kind == "users" ? owner == principal : groups.contains(String(owner))
    }
}

extension BucketScope {
    fileprivate var parts: (kind: Substring, owner: Substring) {
        let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) ?? text.endIndex
        return (text[..<slash], text[slash...].dropFirst())
    }

    /// Whether its buckets are nobody's own: they belong to no user and no group.
    var isCommon: Bool { !["users", "groups"].contains(parts.kind) }
}

/// What a request is about to do, as far as permission is concerned.
public enum Operation: Sendable, Equatable {
    /// Reveals nothing about stored data and requires no login.
    case open
    /// Changes nothing in the bucket; any role permits it.
    case read(BucketName)
    /// Changes or deletes the bucket or its objects; not for the role `read`.
    case write(BucketName)
    /// Names the buckets of the scope that are within reach.
    case list(BucketScope)
    /// Concerns all buckets together.
    case administer
    /// Concerns a watch of the caller's own connection, which was permitted when it began.
    case ownWatch
    /// Fails in any case: its params are invalid.
    case invalid
}

extension Grant {
    /// - Throws: `OPERATION_NOT_ALLOWED`.
    func check(_ operation: Operation) throws(ServiceFailure) {
        switch operation {
        case .open, .ownWatch, .invalid: break
        case .read(let bucket): try check(bucket)
        case .write(let bucket):
            guard role != .read else {
                throw ServiceFailure(.notAllowed, "the role \"read\" does not permit to write")
            }
            try check(bucket)
        case .list(let scope):
            guard reaches(scope) else {
                throw ServiceFailure(
                    .notAllowed, "the buckets of \(quoted(scope.text)) are not yours", at: "scope")
            }
        case .administer:
            guard role == .admin else {
                throw ServiceFailure(
                    .notAllowed, "the role \"\(role.rawValue)\" does not permit it, \"admin\" does")
            }
            guard holdsFor == nil else {
                throw ServiceFailure(
                    .notAllowed, "it concerns all buckets, and the token is bound to some")
            }
        }
    }

    private func check(_ bucket: BucketName) throws(ServiceFailure) {
        guard reaches(bucket) else {
            throw ServiceFailure(
                .notAllowed, "the bucket \(quoted(bucket.text)) is not within your reach",
                at: "bucket")
        }
    }
}
