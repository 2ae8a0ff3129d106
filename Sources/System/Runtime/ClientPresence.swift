import Synchronization

/// Whether the client that a task answers is still there.
///
///     ClientPresence.current?.onEnd { read.end() }
public final class ClientPresence: Sendable {
    /// That of the connection whose request the task answers; nil for other tasks.
    @TaskLocal public static var current: ClientPresence?

    private enum State {
        case present((@Sendable () -> Void)?)
        case gone
    }

    private let state = Mutex(State.present(nil))

    /// The presence of a client that has just come.
    public init() {}

    /// Has `body` called once when the client is gone, at once if it is, instead of the body of an
    /// earlier call. Nil: nothing is called.
    public func onEnd(_ body: (@Sendable () -> Void)?) {
        let isGone = state.withLock { state in
            guard case .present = state else { return true }
            state = .present(body)
            return false
        }
        if isGone { body?() }
    }

    /// The client is gone.
    public func end() {
        let body = state.withLock { state -> (@Sendable () -> Void)? in
            guard case .present(let body) = state else { return nil }
            state = .gone
            return body
        }
        body?()
    }
}
