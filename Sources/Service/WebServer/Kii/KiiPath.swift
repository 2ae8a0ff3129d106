import ServiceDesk

/// What the path of a request leads to, after the application.
enum KiiPath {
    case bucket(KiiScope, String)
    case query(KiiScope, String)
    case objects(KiiScope, String)
    case object(KiiScope, String, id: String)
    case user(String)

    /// - Parameter caller: who `users/me` is.
    /// - Throws: 501 for a path of Kii's that leads nowhere here.
    init(_ path: ArraySlice<String>, of caller: Caller) throws(KiiFailure) {
        // Kii's clients leave a segment empty where they have no scope.
        let path = path.filter { !$0.isEmpty }[...]
        let (scope, rest) = try Self.scope(path, caller)
        let segments = Array(rest)
        switch (segments.first, segments.count) {
        case (nil, _):
            guard case .user(let id) = scope else { throw Self.notImplemented(path) }
            self = .user(id)
        case ("buckets", 2): self = .bucket(scope, segments[1])
        case ("buckets", 3) where segments[2] == "query": self = .query(scope, segments[1])
        case ("buckets", 3) where segments[2] == "objects": self = .objects(scope, segments[1])
        case ("buckets", 4) where segments[2] == "objects":
            self = .object(scope, segments[1], id: segments[3])
        default: throw Self.notImplemented(path)
        }
    }

    /// The scope that a path begins with, and the rest of the path.
    private static func scope(
        _ path: ArraySlice<String>, _ caller: Caller
    ) throws(KiiFailure) -> (KiiScope, ArraySlice<String>) {
        guard let kind = path.first, ["users", "groups", "things"].contains(kind) else {
            return (.application, path)
        }
        guard let id = path.dropFirst().first else { throw notImplemented(path) }
        let rest = path.dropFirst(2)
        switch kind {
        case "users": return (.user(try user(id, caller)), rest)
        case "groups": return (.group(id), rest)
        default: return (.thing(id), rest)
        }
    }

    private static func user(_ id: String, _ caller: Caller) throws(KiiFailure) -> String {
        if id == "me" {
            guard let grant = caller.grant else {
                throw KiiFailure(
                    .unauthorized,
                    "\"me\" is whoever is logged in; send Authorization: Bearer TOKEN")
            }
            return grant.principal
        }
        guard (try? Grant(principal: id, role: .read)) != nil else {
            throw KiiFailure(
                .userNotFound, "that is no id of a user; users are the principals of tokens")
        }
        return id
    }

    /// Says what takes the place of something that is not here.
    private static func notImplemented(_ path: ArraySlice<String>) -> KiiFailure {
        let instead: (what: String, instead: String) =
            if path.contains("acl") {
                ("ACLs", "the roles and buckets of tokens say who may do what: geobucket token")
            } else if path.contains("body") {
                ("Object bodies", "store the file elsewhere, and its URL in a field")
            } else if path.contains(where: { push.contains($0) }) {
                ("Push", "watch a query: watch.start of the line protocol, or GET /watch")
            } else if path.contains(where: { registration.contains($0) }) {
                (
                    "Registration and login of users, groups and things",
                    "make a token for each: geobucket token; scopes need no registration"
                )
            } else {
                ("This path", "docs/kii.md lists what there is")
            }
        return KiiFailure(
            .operationNotImplemented, "\(instead.what): not implemented; \(instead.instead)")
    }

    private static let push: Set<String> = [
        "push", "topics", "installations", "devices", "filters", "mqtt-endpoint",
    ]

    private static let registration: Set<String> = [
        "users", "groups", "things", "oauth2", "members", "ownership",
    ]
}
