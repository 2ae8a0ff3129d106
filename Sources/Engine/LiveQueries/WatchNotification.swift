import BackendContract
import JSONText
import Objects
import Wire

/// What a client is told of a watch.
enum WatchNotification {
    /// Nothing, for now.
    case none
    case resync(String, ResyncReason)
    /// A part of a snapshot, with the state's change and what the token is bound to.
    case snapshot(String, SnapshotPiece, ChangeNumber, [UInt8])
    case events(Told)
    case end(String, ServiceFailure)

    /// Appends it as a message of JSON-RPC.
    ///
    /// - Parameter tokens: nil if nothing can be resumed.
    func write(to writer: inout JSONWriter, _ tokens: ResumeTokenMaker?) {
        writer.raw("{\"jsonrpc\":\"2.0\",\"method\":\"watch.")
        switch self {
        case .none: preconditionFailure("nothing has no message")
        case .resync(let name, let reason):
            Self.begin("resync", name, &writer)
            writer.key("reason")
            writer.string(reason.rawValue)
        case .snapshot(let name, let piece, let change, let scope):
            Self.begin("snapshot", name, &writer)
            writer.raw(",\"objects\":[")
            writer.raw(piece.bytes)
            writer.raw("],\"more\":")
            writer.bool(!piece.isLast)
            writer.key("change")
            writer.integer(change)
            if piece.isLast { Self.write(tokens?.token(of: change, for: scope), &writer) }
        case .events(let told):
            Self.begin("events", told.name, &writer)
            writer.key("change")
            writer.integer(told.change)
            Self.write(tokens?.token(of: told.change, for: told.scope), &writer)
            writer.raw(",\"events\":[")
            told.write(to: &writer)
            writer.raw("]")
        case .end(let name, let failure):
            Self.begin("end", name, &writer)
            writer.key("error")
            RPCFailure(failure).write(to: &writer)
        }
        writer.raw("}}")
    }

    private static func begin(
        _ method: StaticString, _ name: String, _ writer: inout JSONWriter
    ) {
        writer.raw(method)
        writer.raw("\",\"params\":{\"watch\":")
        writer.string(name)
    }

    private static func write(_ token: String?, _ writer: inout JSONWriter) {
        guard let token else { return }
        writer.key("resume")
        writer.string(token)
    }
}

/// The events of one notification.
struct Told {
    let name: String
    var change: ChangeNumber
    let scope: [UInt8]
    var isCenterMissing: Bool?
    var events: [WatchEvent] = []
    var isOfPairs = false
    /// The steps of a ranking.
    var ranked: [RankedList.Step] = []
    /// Why objects have left a ranking.
    var departures: [ChangeNumber: LeaveReason] = [:]
    /// Whether the ranking differs because the watch was moved.
    var isMoved = false

    init(name: String, change: ChangeNumber, scope: [UInt8], isCenterMissing: Bool?) {
        self.name = name
        self.change = change
        self.scope = scope
        self.isCenterMissing = isCenterMissing
    }

    /// The number of events.
    var count: Int { events.count + ranked.count + (isCenterMissing == nil ? 0 : 1) }

    /// Appends the events, with commas between them.
    func write(to writer: inout JSONWriter) {
        var isFirst = true
        func next(_ name: StaticString) {
            writer.raw(isFirst ? "{\"event\":\"" : ",{\"event\":\"")
            writer.raw(name)
            writer.raw("\"")
            isFirst = false
        }
        if let isCenterMissing {
            next("center")
            writer.key("missing")
            writer.bool(isCenterMissing)
            writer.raw("}")
        }
        for event in events {
            switch event.outcome {
            case .present(let text):
                next(isOfPairs ? "meet" : event.isEntry ? "enter" : "change")
                Self.write(event.change, to: &writer)
                writer.raw(isOfPairs ? "," : ",\"object\":")
                writer.raw(text)
            case .absent(let reason, let text):
                next(isOfPairs ? "part" : "leave")
                Self.write(event.change, to: &writer)
                writer.raw(isOfPairs ? "," : ",\"_id\":")
                writer.raw(text)
                writer.key("reason")
                writer.string(reason.rawValue)
            }
            writer.raw("}")
        }
        for step in ranked {
            switch step {
            case .leave(let entry):
                next("leave")
                let reason = isMoved ? .query : departures[entry.creation] ?? .moved
                writer.raw(",\"_id\":")
                writer.raw(entry.id)
                writer.key("reason")
                writer.string(reason.rawValue)
            case .enter(let entry, let index):
                next("enter")
                Self.write(entry, index, to: &writer)
            case .change(let entry, let index, let from):
                next("change")
                Self.write(entry, index, to: &writer)
                if let from {
                    writer.key("from")
                    writer.integer(from)
                }
            }
            writer.raw("}")
        }
    }

    private static func write(
        _ entry: RankedList.Entry, _ index: Int, to writer: inout JSONWriter
    ) {
        write(entry.change, to: &writer)
        writer.raw(",\"object\":")
        writer.raw(entry.text)
        writer.key("index")
        writer.integer(index)
    }

    private static func write(_ change: ChangeNumber?, to writer: inout JSONWriter) {
        guard let change else { return }
        writer.key("change")
        writer.integer(change)
    }
}

extension WatchEvent {
    /// Whether an object that is there enters, as far as the client is concerned.
    fileprivate var isEntry: Bool {
        if case .yes = held { false } else { true }
    }
}
