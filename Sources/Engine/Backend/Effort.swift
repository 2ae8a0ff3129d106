import Synchronization

/// How much work a caller's thread can take.
public enum Effort: Sendable {
    /// Some tens of microseconds: on a thread that others wait for.
    case light
    case any
    /// All it takes, as long as somebody wants the answer.
    case until(StopSignal)

    /// Whether the work is to end with a failure, as nobody wants its answer any more.
    public var isStopped: Bool {
        if case .until(let signal) = self { signal.isStopped } else { false }
    }
}

extension Effort: Equatable {
    public static func == (a: Effort, b: Effort) -> Bool {
        switch (a, b) {
        case (.light, .light), (.any, .any): true
        case (.until(let a), .until(let b)): a === b
        default: false
        }
    }
}

/// Tells work on another thread to end: its client is gone, or the service stops.
public final class StopSignal: Sendable {
    private let flag = Atomic(false)

    public init() {}

    public var isStopped: Bool { flag.load(ordering: .relaxed) }

    public func stop() { flag.store(true, ordering: .relaxed) }
}
