import SyntheticData

/// The settings of a load test.
public struct LoadSettings: Sendable {
    public var plan: LoadPlan
    public var requests: RequestSettings
    public var objective: Objective?
    public var connections = 50
    /// How long each rate is held.
    public var stageSeconds = 30.0
    /// How long the first rate is sent before anything counts.
    public var warmUpSeconds = 5.0
    /// How long to wait for answers after a stage's end.
    public var patienceSeconds = 10.0
    /// Search centres; empty means near the bucket's objects.
    public var centers: [MicroPoint] = []

    public static let mostConnections = 10_000

    public init(plan: LoadPlan, requests: RequestSettings) {
        self.plan = plan
        self.requests = requests
    }
}
