import ArgumentParser
import Operations

/// The program and its subcommands.
@main
struct GeoBucket: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "geobucket",
        abstract:
            "A database service for JSON objects with positions: what is near here and also matches?",
        discussion: """
            Objects live in buckets. `geobucket serve` runs the service; the other commands are \
            clients of it, except `check` and `backup`, which can also read a store without a \
            service, `restore`, `migrate`, `cluster`, and `token`.

            Exit status: 0 success, 1 the work failed, 2 wrong usage.
            """,
        version: Operations.Service.version,
        subcommands: [
            Serve.self, Load.self, Inspect.self, ImportArchive.self, QueryCommand.self, Count.self,
            WatchCommand.self, GetCommand.self, PutCommand.self, PatchCommand.self,
            DeleteCommand.self, BucketsCommand.self, DropCommand.self, Call.self, Export.self,
            Backup.self, Restore.self, Check.self, Migrate.self, ClusterCommand.self,
            TokenCommand.self, LoadTestCommand.self,
        ])

    static func main() async {
        var command: any ParsableCommand
        do {
            let words = try MappingWords.expanded(Array(CommandLine.arguments.dropFirst()))
            command = try parseAsRoot(words)
        } catch {
            finish(error) { fullMessage(for: error) }
        }
        do {
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let error as CommandFailure {
            Console.error(error.message)
            exit(withError: ExitCode(1))
        } catch {
            let words = path(to: type(of: command)) ?? []
            finish(error) {
                let help = (["geobucket"] + words + ["--help"]).joined(separator: " ")
                return "geobucket: \(message(for: error))\nSee '\(help)'."
            }
        }
    }

    /// The words that select a command: `token create`.
    private static func path(
        to command: any ParsableCommand.Type, below parent: any ParsableCommand.Type = Self.self
    ) -> [String]? {
        for child in parent.configuration.subcommands {
            let name = child.configuration.commandName ?? "\(child)".lowercased()
            if child == command { return [name] }
            if let rest = path(to: command, below: child) { return [name] + rest }
        }
        return nil
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
