import Synchronization

/// The service's state for health checks.
public final class Health: Sendable {
    /// The stages of the service's life; health checks read the raw value.
    public enum State: String, Sendable, CustomStringConvertible {
        /// The store is being opened and the index built.
        case starting
        /// Requests are answered.
        case ready
        /// Requests are answered, but another node should get new ones: this one is behind, or is
        /// being rebuilt.
        case behind
        /// No new connections are accepted; requests that were read are still answered.
        case draining

        public var description: String { rawValue }
    }

    private struct Present {
        var state = State.starting
        var isReady: @Sendable () -> Bool = { true }
    }

    private let current = Mutex(Present())

    /// The health of a service that is starting.
    public init() {}

    /// The state now; any thread may read or change it.
    public var state: State {
        get {
            let present = current.withLock { $0 }
            return present.state == .ready && !present.isReady() ? .behind : present.state
        }
        set { current.withLock { $0.state = newValue } }
    }

    /// Asks `isReady` from now on whether a service that has started can answer.
    func watch(_ isReady: @escaping @Sendable () -> Bool) {
        current.withLock { $0.isReady = isReady }
    }
}
