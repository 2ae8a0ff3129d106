import Objects

/// The permissions of a login: the principal, the role, and the buckets within reach.
///
/// - `users/alice/…` is open to the principal `alice`, `groups/drivers/…` to the members of
///   `drivers`, and both to administrators; all other buckets are open to everyone.
/// - `holdsFor` restricts that further, for administrators too, and `roles` may give each of its names
///   a role of its own.
public struct Grant: Sendable, Equatable {
    /// What a login permits on the buckets within reach. `admin` also reaches all scopes and may use
    /// methods that concern all buckets together.
    public enum Role: String, Sendable, CaseIterable, Comparable {
        /// Each permits what the one before it permits: to read; to add objects; to change those that
        /// exist; to delete.
        case read, append, edit, write, admin

        /// By what they permit.
        public static func < (a: Role, b: Role) -> Bool { a.rank < b.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self)! }

        func permits(_ kind: WriteKind) -> Bool {
            switch kind {
            case .adds: self >= .append
            case .changes: self >= .edit
            case .deletes: self >= .write
            }
        }
    }

    /// The principal: the `_owner` of the objects it creates, and the `alice` of `users/alice`.
    public let principal: String
    /// The role for buckets that have none of their own.
    public let role: Role
    /// The groups that the principal is a member of: `drivers` for `groups/drivers`.
    public let groups: Set<String>
    /// The buckets within reach, scopes with all their buckets, and beginnings of names with a star;
    /// nil means all.
    public let holdsFor: Set<String>?
    /// The role for each name of `holdsFor`; empty if `role` applies to all of them.
    public let roles: [String: Role]
    /// When the grant expires, in milliseconds since 1970; nil is never.
    public var expires: Int64?
    private let bounds: BucketBounds?

    /// - Parameters:
    ///   - role: for the buckets without one in `roles`; nil is the strongest of `roles`.
    ///   - roles: the roles for buckets, scopes and beginnings of names; they are within reach as those
    ///     of `holdsFor` are.
    /// - Throws: `INVALID_INPUT_DATA` for a name that is no valid scope or bucket, for the role `admin`
    ///   of a bucket, and without a role.
    public init(
        principal: String, role: Role?, groups: Set<String> = [], holdsFor: Set<String>? = nil,
        roles: [String: Role] = [:], expires: Int64? = nil
    ) throws(ServiceFailure) {
        _ = try BucketScope("users/" + principal, at: "principal")
        for group in groups { _ = try BucketScope("groups/" + group, at: "groups") }
        guard !roles.values.contains(.admin) else {
            throw ServiceFailure(
                .invalidInputData, "the role \"admin\" concerns all buckets, and is none for some",
                at: "buckets")
        }
        guard let role = role ?? roles.values.max() else {
            throw ServiceFailure(.invalidInputData, "expected a role", at: "role")
        }
        let names = roles.isEmpty ? holdsFor : (holdsFor ?? []).union(roles.keys)
        bounds = try names.map(BucketBounds.init)
        self.principal = principal
        self.role = role
        self.groups = groups
        self.holdsFor = names
        self.roles =
            roles.isEmpty
            ? [:]
            : (names ?? []).reduce(into: roles) { all, name in
                if all[name] == nil { all[name] = min(role, .write) }
            }
        self.expires = expires
    }

    func reaches(_ bucket: BucketName) -> Bool {
        guard isOpen(bucket.scope) else { return false }
        return bounds.map { $0.name(of: bucket) != nil } ?? true
    }

    /// The role on a bucket within reach.
    func role(on bucket: BucketName) -> Role {
        guard !roles.isEmpty, let name = bounds?.name(of: bucket) else { return role }
        return roles[name] ?? role
    }

    /// The only buckets of a scope that may be within reach, in order; nil if all may.
    func named(in scope: BucketScope) -> [BucketName]? { bounds.flatMap { $0.named(in: scope) } }

    /// Whether a bucket of the scope may be within reach. The application's scope is never refused,
    /// even if none of its buckets is within reach.
    public func reaches(_ scope: BucketScope) -> Bool {
        guard scope != .application else { return true }
        guard isOpen(scope) else { return false }
        return bounds?.reaches(scope) ?? true
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
    /// Changes the bucket or its objects; the role says in which way.
    case write(BucketName, WriteKind = .deletes)
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
        case .write(let bucket, let kind):
            let role = role(on: bucket)
            guard role.permits(kind) else {
                let what = role == .read ? "to write" : kind.whatIsForbidden
                throw ServiceFailure(
                    .notAllowed, "the role \"\(role.rawValue)\" does not permit \(what)")
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

extension WriteKind {
    fileprivate var whatIsForbidden: String {
        switch self {
        case .adds: "to write"
        case .changes: "to change objects that may exist: give it \"ifAbsent\", or no id"
        case .deletes: "to delete objects, or to say when those that may exist expire"
        }
    }
}
