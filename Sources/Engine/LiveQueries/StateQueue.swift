import Backend
import Objects
import Runtime
import Synchronization

/// The states that became visible and have not been matched yet. The writer's thread adds to it, and
/// does nothing else.
final class StateQueue: StateObserver {
    /// What has happened since the queue was last asked.
    struct News {
        /// The first state of another history, if there is one.
        var beginning: (state: any HeldState, history: any StoreHistory)?
        /// What followed, the oldest first.
        var steps: [any StateStep] = []
        /// When the oldest of these was added, in nanoseconds of the monotonic clock.
        var since: Int64 = 0
    }

    private let news = Mutex(News())
    private let wake: @Sendable () -> Void

    /// - Parameter wake: called when there is something, once until it is taken.
    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    func begins(with state: any HeldState, of history: any StoreHistory) {
        add { news in
            news.beginning = (state, history)
            news.steps = []
        }
    }

    func follows(_ step: any StateStep) { add { $0.steps.append(step) } }

    private func add(_ body: (inout News) -> Void) {
        let isFirst = news.withLock { news in
            let isFirst = news.beginning == nil && news.steps.isEmpty
            if isFirst { news.since = monotonicNanoseconds() }
            body(&news)
            return isFirst
        }
        if isFirst { wake() }
    }

    /// Takes everything.
    func take() -> News {
        news.withLock { news in
            defer { news = News() }
            return news
        }
    }

    /// The number of the last state that waits, and how long the first has waited, in milliseconds;
    /// nil if none waits.
    var waiting: (change: ChangeNumber, milliseconds: Int64)? {
        news.withLock { news in
            guard let last = news.steps.last else { return nil }
            return (last.state.change, (monotonicNanoseconds() - news.since) / 1_000_000)
        }
    }
}
