import SyntheticData

/// What a load test does.
public struct LoadSettings: Sendable {
    public var plan: LoadPlan
    public var requests: RequestSettings
    public var objective: Objective?
    public var connections = 50
    /// How long each rate is held.
    public var stageSeconds = 30.0
    /// How long the first rate is sent before anything counts.
    public var warmUpSeconds = 5.0
    /// How long behind a stage's end its answers are waited for.
    public var patienceSeconds = 10.0
    /// Where requests go to, about; empty: where the bucket's objects are.
    public var centers: [MicroPoint] = []

    public static let mostConnections = 10_000

    public init(plan: LoadPlan, requests: RequestSettings) {
        self.plan = plan
        self.requests = requests
    }
}
