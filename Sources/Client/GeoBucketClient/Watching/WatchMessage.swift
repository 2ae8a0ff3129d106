import PlainJSON
import Wire

/// A notification of a watch, read.
enum WatchMessage<Object: Sendable> {
    typealias Item = Watched<Object>.Item

    /// What matches, or a part of it.
    case snapshot([Item], WatchPosition?)
    case events([Event], WatchPosition)
    /// A snapshot follows, which takes the place of what is held.
    case resync
    /// The service ends the watch.
    case end(RemoteFailure)

    enum Event {
        /// It entered or changed; which of the two, the set knows.
        case put(Item, index: Int?)
        case leave(id: String, LeaveReason)
        /// Whether the object at the centre is gone.
        case center(isMissing: Bool)
    }

    /// - Returns: nil for a notification that this client does not know.
    /// - Throws: `ClientFailure.malformedAnswer`, `JSONMismatch`.
    init?(_ method: String, _ params: JSONView, _ kind: Watched<Object>) throws {
        switch method {
        case "watch.snapshot":
            let items = try params["objects"]?.elements.map { try kind.read($0) } ?? []
            let isLast = params["more"]?.bool != true
            self = .snapshot(items, isLast ? try WatchPosition(params) : nil)
        case "watch.events":
            let events = try params["events"]?.elements.compactMap { try Event($0, kind) } ?? []
            self = .events(events, try WatchPosition(params))
        case "watch.resync": self = .resync
        case "watch.end":
            guard let failure = params["error"].flatMap(RPCFailure.init) else {
                throw ClientFailure.malformedAnswer("a watch ends without an error")
            }
            self = .end(RemoteFailure(failure))
        default: return nil
        }
    }
}

extension WatchMessage.Event {
    fileprivate init?(_ event: JSONView, _ kind: Watched<Object>) throws {
        switch event["event"]?.string {
        case "enter", "change":
            guard let object = event["object"] else {
                throw ClientFailure.malformedAnswer("an event of a watch has no object")
            }
            self = .put(try kind.read(object), index: event["index"]?.number?.exactInt)
        case "meet": self = .put(try kind.read(event), index: nil)
        case "leave":
            self = .leave(
                id: try Watched<Object>.id(event), LeaveReason(name: event["reason"]?.string))
        case "part":
            self = .leave(
                id: try Watched<Pair>.pairs.read(event).id,
                LeaveReason(name: event["reason"]?.string))
        case "center": self = .center(isMissing: event["missing"]?.bool ?? false)
        default: return nil
        }
    }
}

/// Where a watch stands in the history of the store.
struct WatchPosition: Sendable, Equatable {
    var change: Int64
    /// With which a later watch goes on from here.
    var resume: String?

    init(change: Int64, resume: String?) { (self.change, self.resume) = (change, resume) }

    fileprivate init(_ params: JSONView) throws {
        guard let change = params["change"]?.number?.exactInt else {
            throw ClientFailure.malformedAnswer("a notification of a watch has no change number")
        }
        self.init(change: Int64(change), resume: params["resume"]?.string)
    }
}
