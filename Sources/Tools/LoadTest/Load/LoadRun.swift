import NIOCore

/// A load test in progress: the open connections and the stages of the plan.
struct LoadRun {
    private let settings: LoadSettings
    private let loop: any EventLoop
    private let generator: NIOLoopBound<Generator>
    private let begin: UInt64

    /// Connections opened at the same time.
    private static let connectionsAtOnce = 100
    /// Seconds between two reports of progress and two samples of the service's statistics.
    private static let sampleSeconds = 1.0
    /// The most intervals of a timeline; more would not fit a picture, and each has a histogram.
    private static let mostIntervals = 1_000.0

    /// The length of an interval of the timeline in whole seconds.
    private static func intervalSeconds(_ settings: LoadSettings) -> Double {
        let stages = Double(settings.plan.mostStages)
        let seconds = settings.warmUpSeconds + stages * settings.stageSeconds
        return max(1, (seconds / mostIntervals).rounded(.up))
    }

    /// How many of the watches a connection has, by its number: all the same, or one more.
    static func watches(of connection: Int, _ settings: LoadSettings) -> Int {
        let (each, rest) = settings.watches.quotientAndRemainder(dividingBy: settings.connections)
        return each + (connection < rest ? 1 : 0)
    }

    /// Opens the connections.
    init(
        _ target: Target, _ settings: LoadSettings, _ population: Population, _ loop: any EventLoop
    ) async throws {
        self.settings = settings
        self.loop = loop
        begin = Clocks.monotonic
        let timeline = Timeline(begin: begin, seconds: Self.intervalSeconds(settings))
        generator = try await loop.submit {
            let maker = RequestMaker(
                settings.requests, population, centers: settings.centers,
                target.web == nil ? .line : .body)
            return NIOLoopBound(Generator(target, maker, timeline, loop), eventLoop: loop)
        }.get()
        for first in stride(from: 0, to: settings.connections, by: Self.connectionsAtOnce) {
            let count = min(Self.connectionsAtOnce, settings.connections - first)
            let shares = (first..<first + count).map { Self.watches(of: $0, settings) }
            do {
                try await onLoop { generator in
                    EventLoopFuture.andAllSucceed(
                        shares.map { generator.connect(watches: $0) }, on: loop)
                }
            } catch {
                try await close()
                throw LoadFailure(
                    "of \(settings.connections) connections \(first) could be opened: \(error)")
            }
        }
    }

    private func onLoop<Value: Sendable>(
        _ body: @escaping @Sendable (Generator) -> EventLoopFuture<Value>
    ) async throws -> Value {
        try await loop.flatSubmit { [generator] in body(generator.value) }.get()
    }

    private func close() async throws {
        try await loop.submit { [generator] in generator.value.close() }.get()
    }

    // MARK: Stages

    /// Runs warm-up and plan, fills the report with the results, and closes the connections.
    func fill(
        _ report: inout LoadReport, statistics: @escaping @Sendable () async -> [String: Double],
        _ progress: @escaping @Sendable (LoadProgress) -> Void
    ) async throws {
        let sampler = Task { await samples(statistics, progress) }
        defer { sampler.cancel() }
        try await runStages(&report)
        sampler.cancel()
        report.samples = await sampler.value
        if let last = await sample(statistics) { report.samples.append(last) }
        report.isCutShort = Task.isCancelled
        report.intervalSeconds = Self.intervalSeconds(settings)
        let (intervals, reconnects) = try await loop.submit { [generator] in
            let generator = generator.value
            return (
                generator.timeline.intervals.map { LoadReport.Interval($0) }, generator.reconnects
            )
        }.get()
        report.timeline = intervals
        report.reconnects = reconnects
        try await close()
    }

    private func runStages(_ report: inout LoadReport) async throws {
        var walk = RateWalk(settings.plan)
        while !Task.isCancelled, let rate = walk.next() {
            if report.stages.isEmpty, settings.warmUpSeconds > 0 {
                report.stages.append(try await stage(rate, isWarmUp: true))
                guard !Task.isCancelled else { return }
            }
            let stage = try await stage(rate, isWarmUp: false)
            report.stages.append(stage)
            if let isHeld = stage.isHeld { walk.note(rate, held: isHeld) }
        }
        report.highestRateHeld = walk.highestHeld
    }

    private func stage(_ rate: Double, isWarmUp: Bool) async throws -> LoadReport.Stage {
        let seconds = isWarmUp ? settings.warmUpSeconds : settings.stageSeconds
        let patience = settings.patienceSeconds
        let record = try await withTaskCancellationHandler {
            try await onLoop {
                $0.run(rate: rate, seconds: seconds, patience: patience, isWarmUp: isWarmUp)
            }
        } onCancel: { [loop, generator] in
            loop.execute { generator.value.stop() }
        }
        let isHeld = isWarmUp ? nil : settings.objective?.isHeld(by: record.total)
        return LoadReport.Stage(
            record, rate: rate, isWarmUp: isWarmUp, since: begin, isHeld: isHeld)
    }

    // MARK: Samples

    /// Samples of the service's statistics, once a second, until the task is cancelled.
    private func samples(
        _ statistics: @Sendable () async -> [String: Double],
        _ progress: @Sendable (LoadProgress) -> Void
    ) async -> [LoadReport.Sample] {
        var samples: [LoadReport.Sample] = []
        while !Task.isCancelled {
            if let sample = await sample(statistics) { samples.append(sample) }
            try? await Task.sleep(for: .seconds(Self.sampleSeconds))
            let status = try? await loop.submit { [generator] in generator.value.progress }.get()
            if let status = status ?? nil { progress(status) }
        }
        return samples
    }

    private func sample(
        _ statistics: @Sendable () async -> [String: Double]
    ) async -> LoadReport.Sample? {
        let seconds = Double(Clocks.monotonic - begin) / 1e9
        let numbers = await statistics()
        return numbers.isEmpty ? nil : LoadReport.Sample(seconds: seconds, numbers: numbers)
    }
}
