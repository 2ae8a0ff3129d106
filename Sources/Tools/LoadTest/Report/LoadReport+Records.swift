import Histogram

extension Distribution {
    init(_ histogram: Histogram<UInt32>) {
        mean = histogram.mean / 1_000
        percentiles = Self.ladder.map { Double(histogram.valueAtPercentile($0)) / 1_000 }
    }
}

extension LoadReport.Setup {
    init(server: String, version: String, objects: Int, _ settings: LoadSettings) {
        self.init(
            server: server, version: version, bucket: settings.requests.bucket, objects: objects,
            mix: settings.requests.mix.description, connections: settings.connections,
            stageSeconds: settings.stageSeconds, warmUpSeconds: settings.warmUpSeconds,
            radiusMeters: settings.requests.radiusMeters,
            moveMeters: settings.requests.moveMeters,
            watches: settings.watches == 0 ? nil : settings.watches,
            watchRadiusMeters: settings.watches == 0 ? nil : settings.requests.watchRadiusMeters,
            seed: settings.requests.seed,
            objective: settings.objective?.description)
    }
}

extension LoadReport.Outcome {
    init(_ tally: Tally) {
        self.init(
            requests: tally.count, errors: tally.errors, latency: Distribution(tally.latencies))
    }
}

extension LoadReport.Watching {
    init(_ tally: WatchTally) {
        self.init(
            events: tally.events, resyncs: tally.resyncs, ends: tally.ends,
            measured: Int(tally.delays.totalCount), delay: Distribution(tally.delays))
    }
}

extension LoadReport.Stage {
    init(_ record: StageRecord, rate: Double, isWarmUp: Bool, since begin: UInt64, isHeld: Bool?) {
        self.init(
            rate: rate, isWarmUp: isWarmUp, begin: Double(record.begin - begin) / 1e9,
            seconds: Double(record.end - record.begin) / 1e9,
            all: LoadReport.Outcome(record.total),
            kinds: Dictionary(
                uniqueKeysWithValues: record.tallies.map {
                    ($0.key.rawValue, LoadReport.Outcome($0.value))
                }),
            isHeld: isHeld,
            generator: LoadReport.GeneratorCost(
                cpuSeconds: Double(record.threadCPU) / 1e9, lag: Distribution(record.lags),
                waits: record.waits),
            watching: record.hasWatches ? LoadReport.Watching(record.watching) : nil)
    }

    /// Results and errors a second, until the last one.
    public var answersPerSecond: Double { Double(all.requests) / seconds }

    /// Events a second, until the last request ended.
    public var eventsPerSecond: Double { Double(watching?.events ?? 0) / seconds }

    /// The fraction of a processor that the generator's event loop used.
    public var generatorLoad: Double { generator.cpuSeconds / seconds }
}

extension LoadReport.Interval {
    init(_ interval: Timeline.Interval) {
        func microseconds(_ percentile: Double) -> Double? {
            interval.due == 0
                ? nil : Double(interval.latencies.valueAtPercentile(percentile)) / 1_000
        }
        self.init(
            due: interval.due, answered: interval.answered, failed: interval.failed,
            p50: microseconds(50), p99: microseconds(99), p999: microseconds(99.9),
            max: microseconds(100))
    }
}
