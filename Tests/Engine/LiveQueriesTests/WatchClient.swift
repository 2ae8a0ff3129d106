import BackendContract
import JSONText
import LiveQueries
import Objects
import QueryLanguage
import Synchronization
import TestSupport

/// What a client of the protocol knows of one watch, from its notifications alone.
struct WatchedState {
    /// What it has: by id, or by both ids of a couple.
    var objects: [String: String] = [:]
    /// A ranking's list.
    var list: [(id: String, text: String)] = []
    var change: Int = -1
    var resume: String?
    /// Whether a snapshot that is told may have been begun before the watch was moved. Its token is
    /// one of the former query then, as its objects are.
    var mayTellFormerQuery = false
    /// Whether a snapshot has been begun and not been completed.
    var isPartial = false
    /// Whether it has been told that a snapshot follows.
    var isAwaiting = false
    /// Whether it holds something; before that, nothing can be said.
    var hasBegun = false
    /// Whether what it has may overlap with what it is told next: after a gap.
    var isMerging = false
    var isCenterMissing = false
    var end: String?
    var resyncs: [String] = []
    var notifications = 0
    var events = 0
    var reasons: [String: Int] = [:]
    /// What was told against the contract.
    var faults: [String] = []

    mutating func note(_ fault: String) { faults.append(fault) }

    /// Takes a notification in.
    mutating func apply(_ method: String, _ params: JSONValue) {
        notifications += 1
        switch method {
        case "watch.snapshot": applySnapshot(params)
        case "watch.events": applyEvents(params)
        case "watch.resync":
            resyncs.append(params["reason"]?.string ?? "")
            // What has come of a snapshot is void.
            isPartial = false
            isAwaiting = true
        case "watch.end": end = params["error"]?["data"]?["errorCode"]?.string
        default: faults.append("an unknown notification \(method)")
        }
    }

    private mutating func advance(_ params: JSONValue) {
        let next = params["change"]?.int ?? -1
        if next < change { faults.append("change \(next) after \(change)") }
        change = next
        if let token = params["resume"]?.string, !mayTellFormerQuery { resume = token }
    }

    private mutating func applySnapshot(_ params: JSONValue) {
        if !isPartial {
            objects = [:]
            list = []
            // A restored store may be behind.
            change = -1
        }
        for object in params["objects"]?.array ?? [] {
            let key = Self.key(object)
            if objects.updateValue(object.text, forKey: key) != nil {
                faults.append("\(key) stands twice in a snapshot")
            }
            list.append((key, object.text))
        }
        isAwaiting = false
        isPartial = params["more"]?.bool == true
        if isPartial != (params["resume"] == nil) {
            faults.append("the last part of a snapshot, and no other, has a token")
        }
        advance(params)
        hasBegun = true
        isMerging = false
    }

    private mutating func applyEvents(_ params: JSONValue) {
        if isPartial { faults.append("events within a snapshot") }
        if isAwaiting { faults.append("events where a snapshot has to follow") }
        if !hasBegun, !isMerging { faults.append("events before a snapshot") }
        mayTellFormerQuery = false
        advance(params)
        var last = 0
        for event in params["events"]?.array ?? [] {
            events += 1
            if event["index"] == nil, let number = event["change"]?.int {
                if number < last { faults.append("event \(number) after \(last)") }
                if number > change { faults.append("event \(number) beyond \(change)") }
                last = number
            }
            apply(event)
        }
        hasBegun = true
        isMerging = false
    }

    private mutating func apply(_ event: JSONValue) {
        let kind = event["event"]?.string ?? ""
        if let reason = event["reason"]?.string { reasons[reason, default: 0] += 1 }
        switch kind {
        case "enter", "change":
            let object = event["object"]!
            let key = Self.key(object)
            if let index = event["index"]?.int {
                place(key, object.text, at: index, from: event["from"]?.int, isNew: kind == "enter")
            }
            let former = objects.updateValue(object.text, forKey: key)
            guard !isMerging else { return }
            if (former == nil) != (kind == "enter") { faults.append("\(kind) of \(key)") }
            // An object that moves in a ranking may show what it showed.
            if former == object.text, event["from"] == nil {
                faults.append("\(kind) of \(key) alters nothing")
            }
        case "leave":
            let key = event["_id"]!.string!
            list.removeAll { $0.id == key }
            if objects.removeValue(forKey: key) == nil, !isMerging {
                faults.append("leave of \(key)")
            }
        case "meet": objects[Self.key(event)] = event["distance"]?.text ?? ""
        case "part":
            if objects.removeValue(forKey: Self.key(event)) == nil, !isMerging {
                faults.append("part of \(Self.key(event))")
            }
        case "center": isCenterMissing = event["missing"]?.bool == true
        default: faults.append("an unknown event \(kind)")
        }
    }

    private mutating func place(
        _ id: String, _ text: String, at index: Int, from: Int?, isNew: Bool
    ) {
        let present = list.firstIndex { $0.id == id }
        if isNew != (present == nil) { faults.append("\(id) is placed wrongly") }
        if let present {
            if present != from ?? index { faults.append("\(id) is not at \(from ?? index)") }
            list.remove(at: present)
        }
        guard index <= list.count else { return faults.append("\(index) is beyond the list") }
        list.insert((id, text), at: index)
    }

    private static func key(_ object: JSONValue) -> String {
        object["_id"]?.string
            ?? object["ids"]!.array!.map { $0.string! }.joined(separator: " ")
    }
}

/// A connection's session and what its client knows.
final class WatchClient {
    let session: WatchSession
    private(set) var states: [String: WatchedState] = [:]

    private final class Wakes: Sendable {
        let count = Atomic(0)
    }

    private let wakes: Wakes
    private let replyBytes: Int

    /// - Parameter replyBytes: what no notification may exceed that could be told in parts.
    init(_ hub: WatchHub, of owner: String = "me", replyBytes: Int = .max) {
        self.replyBytes = replyBytes
        let wakes = Wakes()
        self.wakes = wakes
        session = hub.session(of: owner) { wakes.count.add(1, ordering: .relaxed) }
    }

    /// How often the session has asked to be served.
    var wakeups: Int { wakes.count.load(ordering: .relaxed) }

    /// Starts a watch.
    ///
    /// - Parameters:
    ///   - params: the members besides `bucket`, JSON.
    ///   - former: what the client knows already, if it goes on.
    func start(
        _ bucket: BucketName, _ params: String, limits: Limits = Limits(),
        after former: WatchedState? = nil, opens: Bool = true
    ) throws -> WatchStart {
        let request = try Self.request(bucket, params, limits)
        let start = try session.start(request, until: nil)
        var state = former ?? WatchedState()
        state.isMerging = start.resumed == true
        states[start.name] = state
        if opens { session.open(start.name) }
        return start
    }

    static func request(
        _ bucket: BucketName, _ params: String, _ limits: Limits
    ) throws -> WatchRequest {
        try JSONParser.reading(Array(params.utf8)) { view in
            var members = try MemberReader(view)
            let request = try WatchRequest(bucket: bucket, from: &members, limits: limits)
            try members.finish(as: "the params of a watch")
            return request
        }
    }

    func move(_ watch: String, _ params: String, limits: Limits = Limits()) throws -> UInt64 {
        let query = try JSONParser.reading(Array(params.utf8)) { view in
            var members = try MemberReader(view)
            return try WatchQuery(from: &members, limits: limits)
        }
        let change = try session.move(watch, to: query, until: nil)
        // What it has said so far is of another query.
        states[watch]?.resume = nil
        if let state = states[watch], state.isPartial || !state.hasBegun {
            states[watch]?.mayTellFormerQuery = true
        }
        session.open(watch)
        return change
    }

    func stop(_ watch: String) throws {
        try session.stop(watch)
        states[watch] = nil
    }

    /// Takes what there is, at most so many notifications.
    @discardableResult
    func drain(atMost count: Int = .max) throws -> Int {
        var taken = 0
        while taken < count {
            var writer = JSONWriter()
            guard session.next(into: &writer) else { break }
            taken += 1
            let message = try JSONValue(parsing: writer.bytes)
            let (method, params) = (message["method"]!.string!, message["params"]!)
            guard let watch = params["watch"]?.string, states[watch] != nil else {
                throw Unexpected(text: message.text)
            }
            let parts = params["objects"]?.array?.count ?? params["events"]?.array?.count ?? 0
            if writer.count > replyBytes, parts > 1 {
                states[watch]!.note("\(method) of \(writer.count) bytes")
            }
            states[watch]!.apply(method, params)
        }
        return taken
    }

    /// Takes what is told until a watch is present, and no more.
    func settle(_ watch: String) throws -> UInt64 {
        let answer = Answer()
        session.sync(watch) { answer.give($0) }
        while true {
            if let result = answer.taken { return try result.get() }
            try drain(atMost: 1)
        }
    }

    struct Unexpected: Error {
        let text: String
    }

    private final class Answer: Sendable {
        private let result = Mutex<Result<UInt64, ServiceFailure>?>(nil)

        func give(_ result: Result<UInt64, ServiceFailure>) { self.result.withLock { $0 = result } }

        var taken: Result<UInt64, ServiceFailure>? { result.withLock { $0 } }
    }
}
