/// The results of a load test: everything that its reports show.
///
/// As JSON it has these members under these names; times of latencies are microseconds.
public struct LoadReport: Codable, Sendable, Equatable {
    /// What kind of file this is, and its version.
    public var format = Self.currentFormat
    /// UTC, ISO 8601.
    public var date: String
    public var setup: Setup
    public var stages: [Stage] = []
    /// The highest rate that held the objective; nil when there is none, or no rate did.
    public var highestRateHeld: Double?
    /// Whether the test was ended before its plan was.
    public var isCutShort = false
    public var intervalSeconds = 1.0
    public var timeline: [Interval] = []
    /// Numbers of `server.stats`, in time.
    public var samples: [Sample] = []
    /// Connections that were lost and opened again.
    public var reconnects = 0

    public static let currentFormat = "geobucket-loadtest-1"

    init(date: String, setup: Setup) {
        self.date = date
        self.setup = setup
    }

    public struct Setup: Codable, Sendable, Equatable {
        public var server: String
        /// Of the service.
        public var version: String
        public var bucket: String
        /// In the bucket when the load began.
        public var objects: Int
        public var mix: String
        public var connections: Int
        public var stageSeconds: Double
        public var warmUpSeconds: Double
        public var radiusMeters: Double
        public var moveMeters: Double
        public var seed: UInt64
        public var objective: String?
    }

    /// Requests at one rate.
    public struct Stage: Codable, Sendable, Equatable {
        /// Requests a second that were due.
        public var rate: Double
        public var isWarmUp: Bool
        /// Seconds from the beginning of the run.
        public var begin: Double
        /// Seconds until the last request ended.
        public var seconds: Double
        public var all: Outcome
        public var kinds: [String: Outcome]
        public var isHeld: Bool?
        public var generator: GeneratorCost
    }

    /// How requests ended.
    public struct Outcome: Codable, Sendable, Equatable {
        public var requests: Int
        /// By error code.
        public var errors: [String: Int]
        public var latency: Distribution

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
        /// Results and errors that came in it.
        public var answered: Int
        public var failed: Int
        /// Microseconds; nil where nothing was due.
        public var p50: Double?
        public var p99: Double?
        public var p999: Double?
        public var max: Double?
    }

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
    public var mean: Double
    /// By `Distribution.ladder`, then the largest.
    public var percentiles: [Double]

    /// Of which percentages there are values.
    public static let ladder = [
        0, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99, 99.995, 99.999, 100,
    ]

    /// The value of a percentage on the ladder.
    public subscript(_ percentile: Double) -> Double {
        guard let place = Self.ladder.firstIndex(of: percentile) else {
            preconditionFailure("\(percentile) is not on the ladder")
        }
        return percentiles[place]
    }

    public var max: Double { percentiles.last! }
}
