import JSONText
import NIOCore
import NIOPosix

/// Sends requests to a service at fixed rates and measures the latencies of its answers.
///
///     let report = try await LoadDriver(target, settings, control).run { progress in … }
///     report.stages.last?.all.latency[99]      // microseconds
///
/// - Note: It uses one event loop, so one processor: tens of thousands of requests a second. The
///   report says how busy the loop was and how late it sent.
public struct LoadDriver: Sendable {
    private let target: Target
    private let settings: LoadSettings
    private let control: Control

    /// Stores its arguments; nothing is sent before `run`.
    ///
    /// - Parameter control: opens a separate connection, for calls that are not part of the load.
    public init(_ target: Target, _ settings: LoadSettings, _ control: @escaping Control) {
        self.target = target
        self.settings = settings
        self.control = control
    }

    /// Runs the whole plan. Cancelling the task ends it early, with a report of the results so far.
    ///
    /// - Parameters:
    ///   - date: the date of the report.
    ///   - progress: called once a second.
    /// - Throws: `LoadFailure` for a bucket without objects, and when connections cannot be opened;
    ///   also whatever `control` throws.
    public func run(
        date: String, progress: @escaping @Sendable (LoadProgress) -> Void
    ) async throws -> LoadReport {
        var version = ""
        var population = Population()
        let requests = settings.requests
        try await control { call in
            version = try Self.version(try await call("server.info", Array("{}".utf8)))
            population = try await Population.drawn(
                from: requests.bucket, field: requests.field, seed: requests.seed, call)
        }
        let setup = LoadReport.Setup(
            server: target.description, version: version, objects: population.total, settings)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            let run = try await LoadRun(target, settings, population, group.next())
            var report = LoadReport(date: date, setup: setup)
            try await run.fill(&report, statistics: statistics, progress)
            try await group.shutdownGracefully()
            return report
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
    }

    private static func version(_ info: [UInt8]) throws -> String {
        try JSONParser.reading(info) { $0["version"]?.string ?? "unknown" }
    }

    /// The numbers of `server.stats` by their paths; empty if the service does not answer.
    private func statistics() async -> [String: Double] {
        var numbers: [String: Double] = [:]
        try? await control { call in
            let statistics = try await call("server.stats", Array("{}".utf8))
            try JSONParser.reading(statistics) { Self.collect($0, "", into: &numbers) }
        }
        return numbers
    }

    private static func collect(
        _ view: JSONView, _ path: String, into numbers: inout [String: Double]
    ) {
        if let number = view.number { numbers[path] = number.double }
        for member in view.members {
            let name = String(decoding: member.name, as: UTF8.self)
            collect(member.value, path.isEmpty ? name : "\(path).\(name)", into: &numbers)
        }
    }
}
