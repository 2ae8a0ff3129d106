import Synchronization

/// Whether the service can be asked, for those who watch over it.
public final class Health: Sendable {
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

    public init() {}

    public var state: State {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
