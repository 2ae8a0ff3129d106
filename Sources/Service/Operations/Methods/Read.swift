import Backend
import JSONText
import Objects

/// A call that changes nothing: its params. It is prepared, which tells what it takes, then run.
public protocol Read: Sendable {
    /// Checks and plans it; cheap where it does not say otherwise.
    func prepare(for caller: Caller, on service: Service) throws(ServiceFailure) -> Preparation

    /// Appends the result as JSON.
    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure)
}

extension Read {
    public func prepare(for caller: Caller, on service: Service) -> Preparation { .cheap }
}

/// What is known of a read before it runs.
public enum Preparation: Sendable {
    /// There is nothing to plan, and it takes next to no time.
    case cheap
    /// There is nothing to plan, but it takes its time.
    case costly
    case planned(any PreparedRead)

    /// Whether it is nothing for a thread that others wait for.
    public var isCostly: Bool {
        switch self {
        case .cheap: false
        case .costly: true
        case .planned(let read): read.isCostly
        }
    }

    /// Which bucket a query or count asks, and how it runs, without the values that it asks for.
    public var outline: (bucket: BucketName, plan: String)? {
        if case .planned(let read) = self { read.outline } else { nil }
    }
}
