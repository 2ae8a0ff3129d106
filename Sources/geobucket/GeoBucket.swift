import ArgumentParser
import Operations

/// The program: one subcommand for each thing it does.
@main
struct GeoBucket: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "geobucket",
        abstract: "A service for JSON objects with positions: what is near here that also matches?",
        discussion: """
            Objects live in buckets. `geobucket serve` runs the service; the other commands are \
            clients of it, except `check` and `backup`, which can also read a store by themselves, \
            and `token`.

            Exit status: 0 done, 1 the work failed, 2 wrong usage.
            """,
        version: Operations.Service.version,
        subcommands: [
            Serve.self, Load.self, ImportArchive.self, Ask.self, Count.self, Call.self, Export.self,
            Backup.self, Check.self, TokenCommand.self, LoadTestCommand.self,
        ])

    static func main() async {
        var command: any ParsableCommand
        do {
            command = try parseAsRoot()
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
            let type = type(of: command)
            let name = type.configuration.commandName ?? "\(type)".lowercased()
            finish(error) {
                "geobucket: \(message(for: error))\nSee 'geobucket \(name) --help'."
            }
        }
    }

    /// Help goes to standard output with 0; wrong usage to standard error with 2.
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
