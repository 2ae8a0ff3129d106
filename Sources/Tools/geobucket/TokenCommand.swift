import ArgumentParser
import Glibc
import Objects
import Runtime
import ServiceDesk

/// `geobucket token`: manages the tokens with which clients log in.
struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make, list and revoke the tokens that clients log in with.",
        discussion: """
            The tokens file contains only digests, no tokens. A running service applies changes by \
            itself, also to connections that are logged in.
            """,
        subcommands: [Create.self, List.self, Revoke.self])

    struct FileOption: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "The tokens file. (default: $GEOBUCKET_TOKENS, else ./geobucket.tokens)",
                valueName: "path"))
        var tokens: String?

        var store: TokenStore {
            TokenStore(
                path: tokens ?? Files.environment("GEOBUCKET_TOKENS") ?? "./geobucket.tokens")
        }
    }

    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a token and print it once; it is stored nowhere.",
            discussion: """
                users/NAME/… is open to the principal NAME, groups/NAME/… to members of that group, both \
                to administrators, and all other buckets to everybody; --bucket narrows this.

                --bucket takes a bucket, a scope such as users/alice, or the beginning of names with a star, \
                each with a role of its own if one is given:

                geobucket token create --principal till7 --bucket shops=read --bucket 'sales-*=append'

                read only reads. append also adds objects, without touching those that are there. edit \
                also changes objects. write also deletes them. admin has everybody's buckets too, and \
                statistics, check and backup.
                """)

        @Option(
            help: "The principal that the token stands for; the _owner of the objects it creates.")
        var principal: String
        @Option(
            help:
                "The role for buckets that --bucket gives none: see above. (default: write, or the strongest that --bucket gives)"
        )
        var role: Grant.Role?
        @Option(
            name: .customLong("group"),
            help: "A group of the principal; repeatable.")
        var groups: [String] = []
        @Option(
            name: .customLong("bucket"),
            help: ArgumentHelp(
                "What it is valid for, and its role there: a bucket, a scope, or names with a star at the end; repeatable. (default: all)",
                valueName: "name[=role]"))
        var buckets: [TokenBucket] = []
        @Option(help: "Days after which it expires. (default: never)")
        var days: Int?
        @Option(
            help: ArgumentHelp(
                "What users/PRINCIPAL may hold, such as objects=10000,bytes=50MB,buckets=20. (default: what --quota of serve says)",
                valueName: "bounds"),
            transform: quotaArgument)
        var quota: Quota?
        @OptionGroup var file: FileOption

        func run() throws {
            let now = wallMilliseconds()
            guard (1...36_500).contains(days ?? 1) else {
                throw ValidationError("--days has to be 1 to 36500")
            }
            let grant: Grant
            do {
                grant = try Grant(
                    principal: principal, role: role ?? defaultRole, groups: Set(groups),
                    holdsFor: buckets.isEmpty ? nil : Set(buckets.map(\.name)), roles: try roles,
                    expires: days.map { now + Int64($0) * 86_400_000 })
            } catch let failure as ServiceFailure {
                throw ValidationError(failure.message)
            }
            let token = Token()
            try file.store.change { $0.add(.init(token, grant, quota: quota, created: now)) }
            try Console.write(token.text + "\n")
        }

        /// Nil if every bucket has a role of its own.
        private var defaultRole: Grant.Role? {
            buckets.isEmpty || buckets.contains { $0.role == nil } ? .write : nil
        }

        /// The roles of their own that buckets have.
        private var roles: [String: Grant.Role] {
            get throws {
                let named = buckets.compactMap { bucket in bucket.role.map { (bucket.name, $0) } }
                return try Dictionary(named) { first, second in
                    guard first == second else {
                        throw ValidationError("--bucket gives one bucket two roles")
                    }
                    return first
                }
            }
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the tokens: id, principal, role, and what they are bound to.")

        @OptionGroup var file: FileOption

        func run() throws {
            for entry in try file.store.load().entries {
                let grant = entry.grant
                var columns = [entry.id, grant.principal, grant.role.rawValue]
                if !grant.groups.isEmpty { columns.append("groups: \(joined(grant.groups))") }
                if let buckets = grant.holdsFor {
                    let names = buckets.map { name in
                        name + (grant.roles[name].map { "=\($0.rawValue)" } ?? "")
                    }
                    columns.append("buckets: \(joined(Set(names)))")
                }
                if let quota = entry.quota { columns.append("quota: \(text(of: quota))") }
                if let expires = grant.expires { columns.append("expires: \(date(expires))") }
                try Console.write(columns.joined(separator: "\t") + "\n")
            }
        }

        private func joined(_ names: Set<String>) -> String {
            names.sorted().joined(separator: ",")
        }

        private func text(of quota: Quota) -> String {
            [("objects", quota.objects), ("bytes", quota.bytes), ("buckets", quota.buckets)]
                .compactMap { name, bound in bound.map { "\(name)=\($0)" } }
                .joined(separator: ",")
        }

        /// The day, in UTC.
        private func date(_ milliseconds: Int64) -> String {
            var seconds = time_t(milliseconds / 1_000)
            var parts = tm()
            gmtime_r(&seconds, &parts)
            var text = [CChar](repeating: 0, count: 16)
            strftime(&text, text.count, "%Y-%m-%d", &parts)
            return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        }
    }

    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove a token from the file.")

        @Argument(help: "Its id, as `token list` prints it.")
        var id: String
        @OptionGroup var file: FileOption

        func run() throws {
            let isRevoked = try file.store.change { $0.remove(id: id) }
            guard isRevoked else { throw CommandFailure("there is no token \(id)") }
        }
    }
}

extension Grant.Role: ExpressibleByArgument {}

@Sendable private func quotaArgument(_ text: String) throws -> Quota {
    do {
        return try QuotaText.quota(text)
    } catch let fault as QuotaText.Fault {
        throw ValidationError(fault.reason)
    }
}

/// `--bucket NAME` or `--bucket NAME=ROLE`.
struct TokenBucket: ExpressibleByArgument {
    let name: String
    /// Nil for the token's own.
    let role: Grant.Role?

    init?(argument: String) {
        let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count <= 2, let name = parts.first else { return nil }
        self.name = String(name)
        guard parts.count == 2 else {
            role = nil
            return
        }
        guard let role = Grant.Role(rawValue: String(parts[1])) else { return nil }
        self.role = role
    }
}
