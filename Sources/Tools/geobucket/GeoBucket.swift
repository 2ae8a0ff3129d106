import ArgumentParser
import ServiceDesk

/// The program and its subcommands.
@main
struct GeoBucket: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "geobucket",
        abstract:
            "A database service for JSON objects with positions: what is near here and also matches?",
        discussion: """
            Objects live in buckets. `geobucket serve` runs the service; the other commands are \
            clients of it, except `check`, `backup` and `doctor`, which can also read a store without \
            a service, `restore`, `migrate`, `cluster`, and `token`.

            Exit status: 0 success, 1 the work failed, 2 wrong usage, 4 nothing found (--fail-if-empty).
            """,
        version: QueryService.version,
        subcommands: [
            Serve.self, Load.self, Inspect.self, ImportArchive.self, QueryCommand.self, Count.self,
            WatchCommand.self, GetCommand.self, PutCommand.self, PatchCommand.self,
            DeleteCommand.self, DeleteWhereCommand.self, BucketsCommand.self, DropCommand.self,
            StatsCommand.self, InfoCommand.self, DoctorCommand.self, CompactCommand.self, Call.self,
            Export.self, Backup.self, Restore.self, Check.self, Migrate.self, ClusterCommand.self,
            TokenCommand.self, LoadTestCommand.self,
        ])

    static func main() async {
        var command: any ParsableCommand
        do {
            let words = try CommandWords.checked(Array(CommandLine.arguments.dropFirst()))
            command = try parsed(try MappingWords.expanded(words))
        } catch let error as MissingCommand {
            Console.error(helpMessage(for: error.command), prefix: "")
            exit(withError: ExitCode(2))
        } catch {
            finish(error) { fullMessage(for: error) }
        }
        do {
            try Variables.refuseUnknown()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let error as CommandFailure {
            Console.error(error.message)
            exit(withError: ExitCode(1))
        } catch let status as ExitCode {
            exit(withError: status)
        } catch {
            let words = CommandWords.path(to: type(of: command), below: Self.self) ?? []
            finish(error) {
                let help = (["geobucket"] + words + ["--help"]).joined(separator: " ")
                return "geobucket: \(message(for: error))\nSee '\(help)'."
            }
        }
    }

    private static func parsed(_ words: [String]) throws -> any ParsableCommand {
        do {
            return try parseAsRoot(words)
        } catch {
            guard exitCode(for: error) == .validationFailure,
                let (flag, nearest) = CommandWords.unknownFlag(in: words)
            else { throw error }
            throw ValidationError(
                "there is no flag \(flag)" + (nearest.map { "; the nearest is \($0)" } ?? ""))
        }
    }

    /// Prints help to standard output with status 0, usage errors to standard error with status 2.
    private static func finish(_ error: any Error, usage: () -> String) -> Never {
        switch exitCode(for: error) {
        case .success: exit(withError: error)
        case .validationFailure:
            Console.error(usage(), prefix: "")
            exit(withError: ExitCode(2))
        default:
            Console.error(message(for: error))
            exit(withError: ExitCode(1))
        }
    }
}
