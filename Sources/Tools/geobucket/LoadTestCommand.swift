import ArgumentParser
import GeoBucketClient
import Glibc
import JSONText
import LoadTest
import Objects
import QueryLanguage
import UnixSignals

/// `geobucket loadtest`: sends requests at a fixed rate and reports latencies.
struct LoadTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "loadtest",
        abstract: "Send requests to a service at a fixed rate and report latencies.",
        discussion: """
            Requests are due at even intervals, whether or not earlier ones have been answered; \
            latencies count from the time they were due. Kinds of --mix, each with its weight: \
            \(RequestKind.allCases.map(\.rawValue).joined(separator: " ")). \
            create, put and move write into the bucket; follow moves a watch of --watches. Searches and \
            watches are near the bucket's objects, or near --centers.

            Example: geobucket loadtest --prepare 100000 --mix radius=60,nearest=20,box=10,move=8,create=2 \
            --search 1000:50000 --objective p99=5ms --report load.html
            """)

    @OptionGroup var server: ServerOption

    @Option(
        help: ArgumentHelp(
            "A named load: fleet is 8,000 circles and 3,000 moves a second for five minutes. Other flags "
                + "take the place of its settings."))
    var preset: LoadPreset?

    @OptionGroup(title: "Load") var load: LoadFlags

    @OptionGroup(title: "Requests") var requests: LoadRequestFlags

    @OptionGroup(title: "Over HTTP") var web: LoadWebFlags

    @Option(help: ArgumentHelp("Write the report as an HTML page.", valueName: "file.html"))
    var report: String?

    @Option(help: ArgumentHelp("Write the report as JSON.", valueName: "file"))
    var json: String?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Instead of running, compare two reports that --json wrote.", valueName: "a.json b.json"
        )
    )
    var compare: [String] = []

    func validate() throws {
        guard [0, 2].contains(compare.count) else {
            throw ValidationError("--compare takes two files")
        }
        let settings = try load.settings(
            try requests.settings(preset), preset, watches: requests.watches, centers: [])
        _ = try web.target(settings)
    }

    func run() async throws {
        guard compare.isEmpty else {
            let reports = try compare.map { path in
                let json = try Files.contents(of: path)
                return try usage("--compare: \(path)") { try LoadReport(json: json) }
            }
            return try Console.write(Comparison(reports[0], reports[1]).text)
        }
        let settings = try load.settings(
            try requests.settings(preset), preset, watches: requests.watches,
            centers: try requests.positions())
        for path in [self.report, json].compactMap(\.self) { try Files.checkWritable(path) }
        if let count = requests.prepare { try await prepare(count, settings.requests) }
        let report = try await drive(settings)
        try Console.write(report.text)
        if let path = self.report { try Files.write(Array(report.html.utf8), to: path) }
        if let path = json { try Files.write(try report.json(), to: path) }
        if settings.objective != nil, report.highestRateHeld == nil {
            throw CommandFailure("no rate held the objective")
        }
    }

    // MARK: Running

    /// Files that a load test needs besides its connections.
    private static let otherFiles = 64

    private func prepare(_ count: Int, _ requests: RequestSettings) async throws {
        let isShown = Console.errorIsTerminal
        try await server.connect { connection in
            try await Population.prepare(
                count, in: requests.bucket, seed: requests.seed
            ) { stored in
                if isShown { Console.status("\r\u{1B}[Kpreparing: \(stored) of \(count) objects") }
            } _: {
                try await connection.call($0, $1)
            }
        }
        if isShown { Console.status("\r\u{1B}[K") }
    }

    /// Runs the test; SIGINT and SIGTERM end it early.
    private func drive(_ settings: LoadSettings) async throws -> LoadReport {
        try AddressSpace.check()
        let server = server
        let target = try server.loadTarget(try web.target(settings))
        let files = settings.connections + Self.otherFiles
        let allowed = OpenFiles.raiseLimit(to: files)
        guard allowed >= files else {
            throw CommandFailure(
                "\(settings.connections) connections need \(files) open files, the system allows "
                    + "\(allowed) (ulimit -n)")
        }
        let test = LoadDriver(target, settings) { body in
            try await server.connect { connection in
                try await body { try await connection.call($0, $1) }
            }
        }
        let progress = LoadProgressLine()
        defer { progress.clear() }
        do {
            return try await withThrowingTaskGroup(of: LoadReport?.self) { group in
                group.addTask {
                    try await test.run(date: Self.date()) { progress.show($0) }
                }
                let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
                group.addTask {
                    for await _ in signals { return nil }
                    return nil
                }
                // Whichever finishes first cancels the other; a cancelled test still reports.
                let first = try await group.next() ?? nil
                group.cancelAll()
                let second = try await group.next() ?? nil
                guard let report = first ?? second else {
                    throw CommandFailure("the load test was ended before it began")
                }
                return report
            }
        } catch let failure as LoadFailure {
            throw CommandFailure(failure.description)
        }
    }

    /// UTC, ISO 8601, seconds.
    private static func date() -> String {
        var now = time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: text[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// One line of standard error with the progress of a load test, on a terminal only.
private struct LoadProgressLine: Sendable {
    private let isShown = Console.errorIsTerminal

    func show(_ progress: LoadProgress) {
        guard isShown else { return }
        Console.status("\r\u{1B}[K\(progress.line)")
    }

    func clear() {
        if isShown { Console.status("\r\u{1B}[K") }
    }
}

extension LoadPreset: ExpressibleByArgument {}

extension ServerOption {
    /// The service as the target of a load test: address, login and TLS for every connection.
    ///
    /// - Parameter web: the web port, if it takes the load.
    fileprivate func loadTarget(
        _ web: (address: Address, queries: WebQueries)?
    ) throws -> Target {
        let address = try web?.address ?? address()
        let tls = try clientTLS()
        let transport = try usage("--tls-ca, --tls-certificate, --tls-key") {
            try tls?.transport(to: address.host)
        }
        var target = Target(
            host: address.host, port: address.port, token: try token(), transport: transport)
        target.web = web?.queries
        return target
    }
}
