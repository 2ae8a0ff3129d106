import GeoBucketClient
import Objects
import ServiceDesk
import TestSupport
import Wire

/// The service with tokens that these rules are tested on, and calls of its methods.
extension LoginRules {
    /// A service with tokens, and connections that have logged in by them.
    struct Guarded: Sendable {
        let service: TestService
        let access: AccessControl
        let tokens: [String: Token]

        /// How each call of a connection of its own ends, when it has logged in before.
        func outcomes(
            as name: String?, _ calls: [(method: String, params: String)]
        ) async throws -> [String] {
            try await LineConnection.with(host: "127.0.0.1", port: service.port) { connection in
                if let name { try await connection.logIn(token: tokens[name]!.text) }
                var outcomes: [String] = []
                for call in calls {
                    outcomes.append(
                        try await LoginRules.outcome(connection, call.method, call.params))
                }
                return outcomes
            }
        }
    }

    static func outcome(
        _ connection: LineConnection, _ method: String, _ params: String = "{}"
    ) async throws -> String {
        do {
            _ = try await connection.call(method, Array(params.utf8))
            return "accepted"
        } catch ClientFailure.refused(let failure) {
            return "\(failure.code) \(failure.errorCode)" + (failure.path.map { " \($0)" } ?? "")
        }
    }

    static func file(
        _ tokens: [String: Token], _ grants: [String: Grant]
    ) -> TokenFile {
        var file = TokenFile()
        for (name, grant) in grants { file.add(.init(tokens[name]!, grant, created: 0)) }
        return file
    }

    static let grants: [String: Grant] = {
        do {
            return [
                "reader": try Grant(principal: "rita", role: .read),
                "writer": try Grant(principal: "alice", role: .write, groups: ["drivers"]),
                "other": try Grant(principal: "bob", role: .write),
                "narrow": try Grant(
                    principal: "nina", role: .write, groups: ["drivers"],
                    holdsFor: ["shops", "users/nina"]),
                "till": try Grant(
                    principal: "tina", role: nil,
                    roles: [
                        "shops": .read, "sales-*": .append, "sales-open": .edit,
                        "users/tina": .write,
                    ]),
                "admin": try Grant(principal: "root", role: .admin),
                "bound": try Grant(principal: "carl", role: .admin, holdsFor: ["users/alice"]),
                "void": try Grant(principal: "void", role: .admin, expires: 1),
            ]
        } catch {
            fatalError("\(error)")
        }
    }()

    /// Without other limits, whoever waits for a slow machine may wait long for its login.
    static let patient = {
        var limits = Limits()
        limits.handshakeMilliseconds = 3_600_000
        return limits
    }()

    static func with(
        limits: Limits = patient, _ body: @escaping @Sendable (Guarded) async throws -> Void
    ) async throws {
        let tokens = Dictionary(uniqueKeysWithValues: grants.keys.map { ($0, Token()) })
        let access = AccessControl(tokens: file(tokens, grants))
        try await TestService.with(limits: limits, access: access) { service in
            try await body(Guarded(service: service, access: access, tokens: tokens))
        }
    }

    static func get(_ bucket: String) -> (method: String, params: String) {
        ("object.get", #"{"bucket":"\#(bucket)","id":"o1"}"#)
    }

    static func put(_ bucket: String) -> (method: String, params: String) {
        ("object.put", #"{"bucket":"\#(bucket)","id":"o1","object":{"n":1}}"#)
    }

    /// What a method is about.
    enum Subject {
        /// Nothing that needs a login.
        case service
        /// The whole store, or a watch that the connection has begun.
        case more
        /// A bucket, named beside these params.
        case bucket(_ more: String, writes: Bool)
    }

    static func subject(_ method: MethodName) -> Subject {
        switch method {
        case .info, .ping, .login: .service
        case .statistics, .activity, .cancel, .check, .backup, .compact, .listBuckets: .more
        case .moveWatch, .syncWatch, .stopWatch: .more
        case .route, .count, .query, .explain, .clusters, .fields, .export, .startWatch:
            .bucket("", writes: false)
        case .get: .bucket(#","id":"o1""#, writes: false)
        case .create: .bucket(#","object":{}"#, writes: true)
        case .put, .patch: .bucket(#","id":"o1","object":{}"#, writes: true)
        case .delete: .bucket(#","id":"o1""#, writes: true)
        case .putMany: .bucket(#","objects":[]"#, writes: true)
        case .deleteWhere: .bucket(#","bucketQuery":{}"#, writes: true)
        case .deleteBucket: .bucket("", writes: true)
        }
    }

    /// Every method that is about one bucket, with whether it writes.
    static let bucketMethods: [(method: String, more: String, writes: Bool)] =
        MethodName.allCases.compactMap { method in
            guard case .bucket(let more, let writes) = subject(method) else { return nil }
            return ("\(method.text)", more, writes)
        }
}
