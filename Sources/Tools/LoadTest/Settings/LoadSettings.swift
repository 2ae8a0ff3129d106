import SyntheticData

/// The settings of a load test.
public struct LoadSettings: Sendable {
    /// The rates to try, in requests a second.
    public var plan: LoadPlan
    /// The requests and their bucket.
    public var requests: RequestSettings
    /// The objective for each rate; nil evaluates none.
    public var objective: Objective?
    /// Connections, each with one request at a time: 1 to `mostConnections`.
    public var connections = 50
    /// How many watches there are at once, spread over the connections.
    public var watches = 0
    /// The duration of each rate.
    public var stageSeconds = 30.0
    /// The duration of the first rate before measurements count.
    public var warmUpSeconds = 5.0
    /// How long to wait for answers after a stage's end.
    public var patienceSeconds = 10.0
    /// Search centres; empty means near the bucket's objects.
    public var centers: [MicroPoint] = []

    /// The most connections that a load test opens.
    public static let mostConnections = 10_000
    /// The most watches that a load test starts.
    public static let mostWatches = 1_000_000

    /// Settings with 50 connections, stages of 30 seconds and no objective.
    public init(plan: LoadPlan, requests: RequestSettings) {
        self.plan = plan
        self.requests = requests
    }
}
