import Synchronization

/// The service's state for health checks.
public final class Health: Sendable {
    /// The stages of the service's life; health checks read the raw value.
    public enum State: String, Sendable, CustomStringConvertible {
        /// The store is being opened and the index built.
        case starting
        /// Requests are answered.
        case ready
        /// No new connections are accepted; requests that were read are still answered.
        case draining

        public var description: String { rawValue }
    }

    private let current = Mutex(State.starting)

    /// The health of a service that is starting.
    public init() {}

    /// The state now; any thread may read or change it.
    public var state: State {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
