/// The results of a load test: everything that its reports show.
///
/// As JSON it has these members under these names; times of latencies are microseconds.
public struct LoadReport: Codable, Sendable, Equatable {
    /// The kind of file, and its version.
    public var format = Self.currentFormat
    /// UTC, ISO 8601.
    public var date: String
    /// The load and the service.
    public var setup: Setup
    /// The stages in the order in which they ran, beginning with the warm-up if there was one.
    public var stages: [Stage] = []
    /// The highest rate that met the objective; nil without an objective, or if no rate met it.
    public var highestRateHeld: Double?
    /// Whether the test ended before its plan did.
    public var isCutShort = false
    /// The length of each interval of the timeline in seconds.
    public var intervalSeconds = 1.0
    /// The intervals of the whole run, warm-up included.
    public var timeline: [Interval] = []
    /// Samples of `server.stats` in order of time.
    public var samples: [Sample] = []
    /// Connections that were lost and opened again.
    public var reconnects = 0

    /// The `format` of reports written by this version.
    public static let currentFormat = "geobucket-loadtest-1"

    init(date: String, setup: Setup) {
        self.date = date
        self.setup = setup
    }

    /// The load, and the service that received it.
    public struct Setup: Codable, Sendable, Equatable {
        /// The service's address: `HOST:PORT`, an IPv6 host in brackets; over HTTP the path behind it.
        public var server: String
        /// The service's version.
        public var version: String
        /// The bucket that received the requests.
        public var bucket: String
        /// The number of objects in the bucket when the load began.
        public var objects: Int
        /// Weights of the kinds of requests, as `Mix` reads them: `radius=60,get=20`.
        public var mix: String
        /// Connections, each with one request at a time.
        public var connections: Int
        /// The duration of each rate in seconds.
        public var stageSeconds: Double
        /// The duration of the warm-up in seconds, at the first rate; 0 means none.
        public var warmUpSeconds: Double
        /// Metres: the radius of circles, half the side of boxes.
        public var radiusMeters: Double
        /// The distance of one move in metres.
        public var moveMeters: Double
        /// How many watches there were; nil in reports of versions without any.
        public var watches: Int?
        /// The radius of watches in metres; nil without any.
        public var watchRadiusMeters: Double?
        /// The seed of all random choices.
        public var seed: UInt64
        /// The objective, as `Objective` reads it: `p99=5ms`; nil if none was set.
        public var objective: String?
    }

    /// Requests at one rate.
    public struct Stage: Codable, Sendable, Equatable {
        /// The target rate in requests a second.
        public var rate: Double
        /// Whether it is the warm-up, whose figures do not count.
        public var isWarmUp: Bool
        /// Seconds from the beginning of the run.
        public var begin: Double
        /// Seconds until the last request ended.
        public var seconds: Double
        /// The outcome of all requests.
        public var all: Outcome
        /// The outcome of each kind of request, by the kind's name; kinds without requests are left
        /// out.
        public var kinds: [String: Outcome]
        /// Whether it met the objective; nil for the warm-up, and without an objective.
        public var isHeld: Bool?
        /// The generator's cost and lateness.
        public var generator: GeneratorCost
        /// What watches were told; nil without any.
        public var watching: Watching?
    }

    /// What watches were told in a stage.
    public struct Watching: Codable, Sendable, Equatable {
        /// Objects that entered, changed or left, each once for each watch that told it.
        public var events: Int
        /// How often a watch was told its state anew, because it could not keep up.
        public var resyncs: Int
        /// How many watches the service ended.
        public var ends: Int
        /// How many events `delay` is of: those that say which write they come from.
        public var measured: Int
        /// Microseconds from the answer to a write to its event. An event that came before the answer
        /// counts as 0.
        public var delay: Distribution
    }

    /// The outcome of requests.
    public struct Outcome: Codable, Sendable, Equatable {
        /// Requests that were due, including those that failed.
        public var requests: Int
        /// Failures by error code.
        public var errors: [String: Int]
        /// Microseconds from when a request was due to its end, whether or not it failed.
        public var latency: Distribution

        /// How many requests failed, whatever the error.
        public var failures: Int { errors.values.reduce(0, +) }
    }

    /// The cost of the load generator itself in a stage.
    public struct GeneratorCost: Codable, Sendable, Equatable {
        /// Processor time of the event loop that sends and receives.
        public var cpuSeconds: Double
        /// How late requests were sent although a connection was free.
        public var lag: Distribution
        /// Requests that waited for a free connection.
        public var waits: Int
    }

    /// The events of an interval, `LoadReport.intervalSeconds` long.
    public struct Interval: Codable, Sendable, Equatable {
        /// Requests that were due in it; the latencies are theirs.
        public var due: Int
        /// Results that arrived in it.
        public var answered: Int
        /// Requests that ended in it with an error or without an answer.
        public var failed: Int
        /// The median latency in microseconds; nil if nothing was due.
        public var p50: Double?
        /// The 99th percentile in microseconds; nil if nothing was due.
        public var p99: Double?
        /// The 99.9th percentile in microseconds; nil if nothing was due.
        public var p999: Double?
        /// The largest latency in microseconds; nil if nothing was due.
        public var max: Double?
    }

    /// The numbers of `server.stats` at one time.
    public struct Sample: Codable, Sendable, Equatable {
        /// Seconds from the beginning of the run.
        public var seconds: Double
        /// Numbers by their paths, nested members joined by dots: `memory.residentBytes`.
        public var numbers: [String: Double]
    }

    /// All stages except the warm-up.
    public var measured: [Stage] { stages.filter { !$0.isWarmUp } }
}

/// Percentiles of times, in microseconds.
public struct Distribution: Codable, Sendable, Equatable {
    /// The arithmetic mean, in microseconds.
    public var mean: Double
    /// The values at the percentages of `Distribution.ladder`, then the largest.
    public var percentiles: [Double]

    /// The percentages that have values.
    public static let ladder = [
        0, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99, 99.995, 99.999, 100,
    ]

    /// The value at a percentage of the ladder.
    public subscript(_ percentile: Double) -> Double {
        guard let position = Self.ladder.firstIndex(of: percentile) else {
            preconditionFailure("\(percentile) is not on the ladder")
        }
        return percentiles[position]
    }

    /// The largest value, in microseconds.
    public var max: Double { percentiles.last! }
}
