import Synchronization

/// Whether the service can be asked, for those who watch over it.
public final class Health: Sendable {
    /// How far the service is between its start and its end; the raw value is what watchers read.
    public enum State: String, Sendable, CustomStringConvertible {
        /// The store is being opened, the index built.
        case starting
        /// Requests are answered.
        case ready
        /// No connection is taken any more; what was read is still answered.
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
