import ArgumentParser
import GeoBucketClient
import Glibc
import Interchange
import Runtime

/// `geobucket stats`: shows what a service does.
struct StatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Show what a service does, again and again.",
        discussion: """
            Requests with their latencies, memory, connections, watches, the busiest buckets, and what \
            runs now; for administrators. On a terminal the screen renews itself until Ctrl-C. With \
            --once, and where there is no terminal, the numbers are those since the service started.
            """)

    @OptionGroup var server: ServerOption

    @Flag(help: "Print once what has been since the service started.")
    var once = false

    @Option(
        help: ArgumentHelp(
            "How long to wait between two screens, such as 500ms or 5s. (default: 2s)",
            valueName: "time"))
    var every: TimeLength?

    func run() async throws {
        let isOnce = once || !Console.outputIsTerminal
        if !isOnce { signal(SIGINT) { _ in _exit(0) } }
        let pause = Duration.milliseconds(every?.milliseconds ?? 2_000)
        try await server.connect { connection in
            var before: ServiceSample?
            repeat {
                let sample = try await Self.sample(connection)
                let screen = StatsScreen(sample, since: before)
                if isOnce {
                    let lines = screen.lines.map { TerminalLine.fitted($0, to: nil) + "\n" }
                    try Console.write(lines.joined())
                } else {
                    try Console.show(screen.lines)
                }
                before = sample
                if !isOnce { try await Task.sleep(for: pause) }
            } while !isOnce
        }
    }

    private static func sample(_ connection: LineConnection) async throws -> ServiceSample {
        let stats = try await connection.call("server.stats", Array("{}".utf8))
        let activity = try await connection.call("server.activity", Array("{}".utf8))
        return try ServiceSample(
            stats: stats, activity: activity, at: Double(monotonicNanoseconds()) / 1e9)
    }
}
