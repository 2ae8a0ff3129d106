import ArgumentParser
import Glibc
import Objects
import Operations
import Runtime

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
                """)

        @Option(
            help: "The principal that the token stands for; the _owner of the objects it creates.")
        var principal: String
        @Option(
            help:
                "read: only read. write: also change. admin: everybody's buckets, statistics, check, backup."
        )
        var role: Grant.Role = .write
        @Option(
            name: .customLong("group"),
            help: "A group of the principal; repeatable.")
        var groups: [String] = []
        @Option(
            name: .customLong("bucket"),
            help:
                "A bucket, or a scope such as users/alice, for which it is valid; repeatable. (default: all)"
        )
        var buckets: [String] = []
        @Option(help: "Days after which it expires. (default: never)")
        var days: Int?
        @OptionGroup var file: FileOption

        func run() throws {
            let now = wallMilliseconds()
            guard (1...36_500).contains(days ?? 1) else {
                throw ValidationError("--days has to be 1 to 36500")
            }
            let grant: Grant
            do {
                grant = try Grant(
                    principal: principal, role: role, groups: Set(groups),
                    holdsFor: buckets.isEmpty ? nil : Set(buckets),
                    expires: days.map { now + Int64($0) * 86_400_000 })
            } catch {
                throw ValidationError(error.message)
            }
            let token = Token()
            try file.store.change { $0.add(.init(token, grant, created: now)) }
            try Console.write(token.text + "\n")
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
                if let buckets = grant.holdsFor { columns.append("buckets: \(joined(buckets))") }
                if let expires = grant.expires { columns.append("expires: \(date(expires))") }
                try Console.write(columns.joined(separator: "\t") + "\n")
            }
        }

        private func joined(_ names: Set<String>) -> String {
            names.sorted().joined(separator: ",")
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
