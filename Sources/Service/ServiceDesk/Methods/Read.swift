import BackendContract
import JSONText
import Objects

/// A call that changes nothing, with its params. `prepare` estimates its cost; then it runs.
///
/// A class because it is passed on often, and its params have many references.
public protocol Read: AnyObject, Sendable {
    /// Whether the result depends on stored objects.
    var seesObjects: Bool { get }

    /// The bucket that it is about; nil if it is about none, or about several.
    var target: BucketName? { get }

    /// How the answers of all nodes make the answer; nil if this node's own is the answer. It
    /// applies only where no node has every bucket.
    var gathering: Gathering? { get }

    /// Checks and plans the read; cheap unless documented otherwise.
    func prepare(for caller: Caller, on service: QueryService) throws(ServiceFailure) -> Preparation

    /// Appends the result as JSON.
    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure)
}

extension Read {
    /// True.
    public var seesObjects: Bool { true }

    /// Nil.
    public var target: BucketName? { nil }

    /// Nil.
    public var gathering: Gathering? { nil }

    /// Plans nothing and takes next to no time.
    public func prepare(for caller: Caller, on service: QueryService) -> Preparation { .cheap }
}

/// What is known about a read before it runs.
public enum Preparation: Sendable {
    /// Calls its argument once, on any thread, when it is time.
    public typealias Wait =
        @Sendable (@escaping @Sendable (Result<ChangeNumber, ServiceFailure>) -> Void) -> Void

    /// Needs no plan, and takes next to no time.
    case cheap
    /// Needs no plan, but takes long.
    case costly
    /// Has a plan, which tells its cost and is what runs.
    case planned(any PreparedRead)
    /// Needs no thread until something has come, which the wait's argument is called with.
    case waiting(Wait)
    /// What was waited for.
    case waitedFor(Result<ChangeNumber, ServiceFailure>)

    /// Whether the read is too costly for an event loop.
    public var isCostly: Bool {
        switch self {
        case .cheap, .waiting, .waitedFor: false
        case .costly: true
        case .planned(let read): read.isCostly
        }
    }

    /// The bucket and the plan of a query or count, without the values in it.
    public var outline: (bucket: BucketName, plan: String)? {
        if case .planned(let read) = self { read.outline } else { nil }
    }

    /// The operators and fields of a query's clause, without values; nil without one.
    public var clauseShape: String? {
        if case .planned(let read) = self { read.clauseShape } else { nil }
    }
}
