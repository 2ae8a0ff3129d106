import JSONText
import TestSupport

/// A connection that watches, line by line. What it is told it applies as a client does.
final class WatchClient {
    /// An answer, or a notification, as it came.
    struct Failure: Error { let line: String }

    private let raw: RawConnection
    private var id = 0
    /// The notifications that came, in their order.
    private(set) var told: [JSONValue] = []
    /// What each watch shows: objects by id.
    private(set) var shown: [String: [String: JSONValue]] = [:]
    /// Watches whose snapshot is not whole yet.
    private var partial: Set<String> = []

    init(_ raw: RawConnection) { self.raw = raw }

    /// Connects, runs `body`, closes.
    static func with<Result>(
        port: Int, _ body: (WatchClient) async throws -> Result
    ) async throws -> Result {
        try await RawConnection.during(port: port) { try await body(WatchClient($0)) }
    }

    static func request(_ id: Int, _ method: String, _ params: String) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
    }

    // MARK: Requests

    /// One call: its answer, the envelope included. What is told before it is applied.
    func answer(_ method: String, _ params: String) throws -> JSONValue {
        id += 1
        try raw.send(Self.request(id, method, params) + "\n")
        return try answer(to: id)
    }

    func answer(to id: Int) throws -> JSONValue {
        while true {
            let message = try message()
            if message["id"]?.int == id { return message }
        }
    }

    /// The next line, applied if it is a notification.
    func message() throws -> JSONValue {
        guard let line = try raw.line() else { throw Failure(line: "the end") }
        let message = try JSONValue(parsing: line)
        if message["method"] != nil { try apply(message) }
        return message
    }

    func call(_ method: String, _ params: String) throws -> JSONValue {
        let answer = try answer(method, params)
        guard let result = answer["result"] else { throw Failure(line: answer.text) }
        return result
    }

    /// How a call ends, as `TestService.outcome` tells it.
    func outcome(_ method: String, _ params: String) throws -> String {
        let error = try answer(method, params)["error"]
        guard let code = error?["data"]?["errorCode"]?.string else { return "accepted" }
        return error?["data"]?["path"]?.string.map { "\(code) \($0)" } ?? code
    }

    /// Begins a watch; its name.
    func start(params: String) throws -> String {
        let name = try call("watch.start", params)["watch"]?.string
        guard let name else { throw Failure(line: "no name") }
        return name
    }

    /// Begins a watch of a clause.
    func start(
        _ clause: String = #"{"type":"all"}"#, order: String = "", more: String = "",
        in bucket: String = "b1"
    ) throws -> String {
        try start(params: queryParams(clause, order, more, bucket))
    }

    @discardableResult
    func sync(_ watch: String) throws -> Int? {
        try call("watch.sync", #"{"watch":"\#(watch)"}"#)["change"]?.int
    }

    /// Waits for a notification.
    func notification(_ method: String, of watch: String) throws -> JSONValue {
        while true {
            let message = try message()
            if message["method"]?.string == method, message["params"]?["watch"]?.string == watch {
                return message["params"]!
            }
        }
    }

    func send(_ text: String) throws { try raw.send(text) }

    func finishSending() throws { try raw.finishSending() }

    /// All that still comes before the service closes.
    func remaining() throws -> [JSONValue] {
        try raw.remainingLines().map {
            let message = try JSONValue(parsing: $0)
            if message["method"] != nil { try apply(message) }
            return message
        }
    }

    // MARK: What was told

    func ids(_ watch: String) -> Set<String> { Set((shown[watch] ?? [:]).keys) }

    /// All events of a watch since `forget`, in words: `enter c1`, `leave c1 moved`.
    func events(_ watch: String) -> [String] {
        told.filter { $0["params"]?["watch"]?.string == watch }.flatMap { message in
            (message["params"]?["events"]?.array ?? []).map { event in
                let words = [
                    event["event"]?.string, event["_id"]?.string ?? event["object"]?["_id"]?.string,
                    event["reason"]?.string,
                ]
                return words.compactMap(\.self).joined(separator: " ")
            }
        }
    }

    /// The latest `resume` of a watch.
    func resume(_ watch: String) -> String? {
        told.last {
            $0["params"]?["watch"]?.string == watch && $0["params"]?["resume"] != nil
        }?["params"]?["resume"]?.string
    }

    func forget() { told = [] }

    private func apply(_ message: JSONValue) throws {
        told.append(message)
        guard let params = message["params"], let watch = params["watch"]?.string else {
            throw Failure(line: message.text)
        }
        switch message["method"]?.string {
        case "watch.snapshot":
            if !partial.contains(watch) { shown[watch] = [:] }
            partial.insert(watch)
            for object in params["objects"]?.array ?? [] {
                shown[watch]?[object["_id"]?.string ?? ""] = object
            }
            if params["more"]?.bool == false { partial.remove(watch) }
        case "watch.events":
            for event in params["events"]?.array ?? [] {
                switch event["event"]?.string {
                case "enter", "change":
                    let object = event["object"]
                    shown[watch, default: [:]][object?["_id"]?.string ?? ""] = object
                case "leave": shown[watch]?[event["_id"]?.string ?? ""] = nil
                default: break
                }
            }
        case "watch.end": shown[watch] = nil
        case "watch.resync": break
        default: throw Failure(line: message.text)
        }
    }
}
