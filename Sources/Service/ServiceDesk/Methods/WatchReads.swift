import BackendContract
import JSONText
import LiveQueries
import Objects

// The hub waits by itself for the state that these have to see, so none of them asks the backend to.

/// Begins a watch. Its notifications follow the answer.
final class StartWatch: Read {
    let seesObjects = false
    private let request: WatchRequest

    init(_ request: WatchRequest) { self.request = request }

    convenience init(_ params: inout Params) throws(ServiceFailure) {
        self.init(try params.watchRequest())
    }

    func prepare(for caller: Caller, on service: QueryService) throws(ServiceFailure) -> Preparation
    {
        try service.admission.permit(reading: request.buckets, caller, at: request.path)
        try service.checkPlace(of: request)
        return .costly
    }

    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure) {
        let start = try context.caller.watches.start(
            request, for: context.caller.share, in: context.service.watches, until: context.stop)
        writer.raw("{\"watch\":")
        writer.string(start.name)
        if let resumed = start.resumed {
            writer.key("resumed")
            writer.bool(resumed)
        }
        writer.byte(UInt8(ascii: "}"))
    }
}

/// Gives a watch another query.
final class MoveWatch: Read {
    let seesObjects = false
    private let watch: String
    private let query: WatchQuery

    init(_ params: inout Params) throws(ServiceFailure) {
        watch = try params.string("watch")
        query = try params.watchQuery()
    }

    func prepare(for caller: Caller, on service: QueryService) throws(ServiceFailure) -> Preparation
    {
        let buckets = try caller.watches.buckets(of: watch, movedTo: query)
        try service.admission.permit(reading: buckets, caller, at: query.path)
        return .costly
    }

    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure) {
        let change = try context.caller.watches.move(watch, to: query, until: context.stop)
        writer.raw("{\"change\":")
        writer.integer(Int(change))
        writer.byte(UInt8(ascii: "}"))
    }
}

/// Tells up to which change a watch has told everything.
final class SyncWatch: Read {
    let seesObjects = false
    private let watch: String

    init(_ params: inout Params) throws(ServiceFailure) { watch = try params.string("watch") }

    func prepare(for caller: Caller, on service: QueryService) throws(ServiceFailure) -> Preparation
    {
        .waiting(try caller.watches.sync(watch))
    }

    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure) {
        guard case .waitedFor(let result) = context.preparation else {
            preconditionFailure("nothing was waited for")
        }
        let change = try result.get()
        writer.raw("{\"change\":")
        writer.integer(Int(change))
        writer.byte(UInt8(ascii: "}"))
    }
}

/// Ends a watch.
final class StopWatch: Read {
    let seesObjects = false
    private let watch: String

    init(_ params: inout Params) throws(ServiceFailure) { watch = try params.string("watch") }

    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure) {
        try context.caller.watches.stop(watch)
        writer.raw("{}")
    }
}

extension QueryService {
    /// Refuses a watch that belongs to other nodes: notifications are not passed on. Which nodes it
    /// belongs to does not depend on what they hold, so none of them sends the client on.
    fileprivate func checkPlace(of request: WatchRequest) throws(ServiceFailure) {
        guard let placement else { return }
        let buckets = request.buckets
        let nodes = placement.watchNodes(of: buckets)
        guard !nodes.contains(where: \.isSelf),
            let absent = buckets.first(where: { !placement.isToHold($0) })
        else { return }
        let addresses = nodes.map(\.clientAddress).filter { !$0.isEmpty }
        throw ServiceFailure(
            .notAllowed,
            "this node does not hold the bucket \(quoted(absent.text)); watch it at "
                + addresses.joined(separator: " or "),
            at: request.path(of: absent))
    }
}
