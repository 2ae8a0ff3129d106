/// A named load. What is given besides takes the place of its settings.
public enum LoadPreset: String, CaseIterable, Sendable {
    /// A fleet that moves, and those who look for it: 8,000 circles and 3,000 moves a second for five
    /// minutes, so that merges and checkpoints fall into it.
    case fleet

    /// The kinds of requests.
    public var mix: String {
        switch self {
        case .fleet: "radius=8,move=3"
        }
    }

    /// Requests a second.
    public var rate: Double {
        switch self {
        case .fleet: 11_000
        }
    }

    /// How long the rate is held.
    public var seconds: Double {
        switch self {
        case .fleet: 300
        }
    }

    /// The number of connections.
    public var connections: Int {
        switch self {
        case .fleet: 100
        }
    }
}
