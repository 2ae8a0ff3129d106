/// The results of a load test: everything that its reports show.
///
/// As JSON it has these members under these names; times of latencies are microseconds.
public struct LoadReport: Codable, Sendable, Equatable {
    /// What kind of file this is, and its version.
    public var format = Self.currentFormat
    /// UTC, ISO 8601.
    public var date: String
    /// What was asked of which service.
    public var setup: Setup
    /// The stages in the order in which they ran, the warm-up first where there was one.
    public var stages: [Stage] = []
    /// The highest rate that held the objective; nil when there is none, or no rate did.
    public var highestRateHeld: Double?
    /// Whether the test was ended before its plan was.
    public var isCutShort = false
    /// Seconds that each interval of the timeline lasts.
    public var intervalSeconds = 1.0
    /// The intervals of the whole run, warm-up included, from its beginning on.
    public var timeline: [Interval] = []
    /// Numbers of `server.stats`, in time.
    public var samples: [Sample] = []
    /// Connections that were lost and opened again.
    public var reconnects = 0

    /// What `format` is in reports written by this version.
    public static let currentFormat = "geobucket-loadtest-1"

    init(date: String, setup: Setup) {
        self.date = date
        self.setup = setup
    }

    /// What the load was, and the service that it went to.
    public struct Setup: Codable, Sendable, Equatable {
        /// Where the service was reached: `HOST:PORT`, an IPv6 host in brackets.
        public var server: String
        /// Of the service.
        public var version: String
        /// The bucket that the requests went to.
        public var bucket: String
        /// In the bucket when the load began.
        public var objects: Int
        /// Weights of the kinds of requests, as `Mix` reads them: `radius=60,get=20`.
        public var mix: String
        /// Connections, each with one request at a time.
        public var connections: Int
        /// Seconds that each rate was held.
        public var stageSeconds: Double
        /// Seconds of warm-up, at the first rate; 0: none.
        public var warmUpSeconds: Double
        /// Metres: the radius of circles, half the side of boxes.
        public var radiusMeters: Double
        /// Metres that an object went in one move.
        public var moveMeters: Double
        /// The seed of all random choices.
        public var seed: UInt64
        /// The objective, as `Objective` reads it: `p99=5ms`; nil: none was set.
        public var objective: String?
    }

    /// Requests at one rate.
    public struct Stage: Codable, Sendable, Equatable {
        /// Requests a second that were due.
        public var rate: Double
        /// Whether it is the warm-up, whose figures do not count.
        public var isWarmUp: Bool
        /// Seconds from the beginning of the run.
        public var begin: Double
        /// Seconds until the last request ended.
        public var seconds: Double
        /// How all of its requests ended.
        public var all: Outcome
        /// How the requests of each kind ended, by the kind's name; a kind without any is left out.
        public var kinds: [String: Outcome]
        /// Whether it held the objective; nil for the warm-up, and where no objective was set.
        public var isHeld: Bool?
        /// What the load generator took and how late it was.
        public var generator: GeneratorCost
    }

    /// How requests ended.
    public struct Outcome: Codable, Sendable, Equatable {
        /// Requests that were due, those that failed included.
        public var requests: Int
        /// By error code.
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
        /// Requests that had to wait until a connection was free.
        public var waits: Int
    }

    /// What happened in an interval: `LoadReport.intervalSeconds` long.
    public struct Interval: Codable, Sendable, Equatable {
        /// Requests that were due in it; the latencies are theirs.
        public var due: Int
        /// Results that came in it.
        public var answered: Int
        /// Requests that ended in it with an error or without an answer.
        public var failed: Int
        /// Microseconds; nil where nothing was due.
        public var p50: Double?
        /// Microseconds; nil where nothing was due.
        public var p99: Double?
        /// Microseconds, of 99.9 percent; nil where nothing was due.
        public var p999: Double?
        /// Microseconds; nil where nothing was due.
        public var max: Double?
    }

    /// The numbers of `server.stats` at one time.
    public struct Sample: Codable, Sendable, Equatable {
        /// From the beginning of the run.
        public var seconds: Double
        /// Members of members joined by dots: `memory.residentBytes`.
        public var numbers: [String: Double]
    }

    /// The stages whose figures count.
    public var measured: [Stage] { stages.filter { !$0.isWarmUp } }
}

/// Percentiles of times, in microseconds.
public struct Distribution: Codable, Sendable, Equatable {
    /// The arithmetic mean, in microseconds.
    public var mean: Double
    /// By `Distribution.ladder`, then the largest.
    public var percentiles: [Double]

    /// Of which percentages there are values.
    public static let ladder = [
        0, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99, 99.995, 99.999, 100,
    ]

    /// The value of a percentage on the ladder.
    public subscript(_ percentile: Double) -> Double {
        guard let position = Self.ladder.firstIndex(of: percentile) else {
            preconditionFailure("\(percentile) is not on the ladder")
        }
        return percentiles[position]
    }

    /// The largest value, in microseconds.
    public var max: Double { percentiles.last! }
}
