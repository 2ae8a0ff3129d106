import HTTPTypes
import JSONText
import LiveQueries
import NIOCore
import Objects
import QueryLanguage
import Runtime
import ServiceDesk
import Synchronization
import WebExchange

/// `GET /watch`: a live query as server-sent events.
struct WatchSite: Sendable {
    let service: QueryService
    let desk: AsyncDesk
    let access: WebAccess
    let catalog: Catalog
    /// The event loop that wakes streams.
    let loop: any EventLoop
    private let streams = StreamCounts()

    init(
        service: QueryService, desk: AsyncDesk, access: WebAccess, catalog: Catalog,
        loop: any EventLoop
    ) {
        (self.service, self.desk, self.access) = (service, desk, access)
        (self.catalog, self.loop) = (catalog, loop)
    }

    private static let parameters: Set<String> = [
        "bucket", "query", "filter", "filter-lang", "limit", "fields",
    ]
    private static let lastEventID = HTTPField.Name("Last-Event-ID")!

    /// Begins the watch that a request asks for.
    func start(
        _ request: WebRequest, by caller: Caller
    ) async throws(WebFailure) -> EventStream {
        if service.health.state == .draining {
            throw WebFailure(ServiceFailure(.temporarilyUnavailable, "the service stops"))
        }
        try access.permit(caller, reading: nil)
        if let bucket = request["bucket"].flatMap({ try? BucketName($0, at: "bucket") }) {
            try access.permit(caller, reading: bucket)
        }
        let watch = try await watch(of: request, caller)
        let owner = caller.share
        try streams.begin(owner, atMost: service.limits.streamsOfOne)
        let stream = EventStream(caller: caller, owner: owner, service: service, loop: loop)
        do throws(RPCFailure) {
            try await desk.startWatch(watch, from: caller)
        } catch {
            end(stream)
            throw Self.failure(WebFailure(error), of: request)
        }
        return stream
    }

    /// What was refused, by the names of the parameters that the watch was made of.
    private static func failure(_ failure: WebFailure, of request: WebRequest) -> WebFailure {
        var result = failure
        switch result.path {
        case "bestEffortLimit": result.path = "limit"
        case let path? where request["filter"] != nil && path.hasPrefix("bucketQuery"):
            result.path = "filter"
        default: break
        }
        return result
    }

    /// Ends a watch with its stream.
    func end(_ stream: EventStream) {
        stream.caller.watches.close()
        streams.end(stream.owner)
    }

    /// The watch that a request asks for.
    private func watch(
        of request: WebRequest, _ caller: Caller
    ) async throws(WebFailure) -> WatchRequest {
        try request.check(Self.parameters)
        guard let name = request["bucket"] else {
            throw .invalid("expected a bucket's name", at: "bucket")
        }
        var limit: Int?
        if let text = request["limit"] {
            guard let number = Int(text), number >= 0 else {
                throw .invalid("expected a whole number of objects, 0 or more", at: "limit")
            }
            limit = number == 0 ? nil : number
        }
        let requested = try request.requestedQuery()
        let bucket: BucketName
        do throws(ServiceFailure) {
            bucket = try BucketName(name)
        } catch {
            throw WebFailure(error)
        }
        let (query, centers) = try await query(requested, in: bucket, caller)
        do throws(ServiceFailure) {
            return WatchRequest(
                bucket: bucket, query: try WatchQuery(query, centers, limit: limit),
                fields: request.fields?.map { Array($0.utf8) }.filter {
                    !$0.elementsEqual("_id".utf8)
                },
                resume: request.headers[Self.lastEventID])
        } catch {
            throw Self.failure(WebFailure(error), of: request)
        }
    }

    private func query(
        _ requested: RequestedQuery, in bucket: BucketName, _ caller: Caller
    ) async throws(WebFailure) -> (query: Query, centers: [MovingCenter]) {
        let limits = service.limits
        guard case .json(let text) = requested else {
            let clause = try await catalog.clause(
                requested, of: CollectionName(bucket), for: caller)
            return (Query(clause: clause), [])
        }
        return try WebFailure.reading(query: text, at: "bucketQuery") {
            view throws(ServiceFailure) in
            try QueryParser(limits: limits).watchedQuery(view)
        }
    }
}

/// The streams that are open, by principal, and without a login by address.
private final class StreamCounts: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    func begin(_ owner: String, atMost limit: Int) throws(WebFailure) {
        let isPermitted = counts.withLock { counts in
            guard counts[owner, default: 0] < limit else { return false }
            counts[owner, default: 0] += 1
            return true
        }
        guard !isPermitted else { return }
        throw WebFailure(
            ServiceFailure(
                .tooManyRequests, "you have \(limit) streams, as many as may be",
                retryAfterMilliseconds: 1_000))
    }

    func end(_ owner: String) {
        counts.withLock { counts in
            let left = counts[owner]! - 1
            counts[owner] = left > 0 ? left : nil
        }
    }
}

/// What a watch tells, as server-sent events (WHATWG HTML, 9.2).
struct EventStream: Sendable {
    /// The answer that the events follow.
    static let head = WebAnswer(
        .ok,
        headers: [
            .contentType: "text/event-stream", .cacheControl: "no-store",
            // Proxies of nginx would hold events back.
            HTTPField.Name("X-Accel-Buffering")!: "no",
        ])

    /// Nanoseconds without an event after which a comment keeps proxies awake.
    private static let quiet: Int64 = 15_000_000_000

    fileprivate let caller: Caller
    /// Whose stream it is: the login may end before it.
    fileprivate let owner: String
    private let service: QueryService
    private let loop: any EventLoop
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    /// The events of a caller whose watch is about to begin.
    init(caller: Caller, owner: String, service: QueryService, loop: any EventLoop) {
        (self.caller, self.owner, self.service, self.loop) = (caller, owner, service, loop)
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        caller.watches.onWake { [wake] in wake.yield() }
    }

    /// Writes events as they come, until the watch ends or the task is cancelled.
    func write(to output: any WebBodyWriter) async throws {
        let ticks = loop.scheduleRepeatedTask(initialDelay: .zero, delay: .seconds(1)) {
            [wake] _ in wake.yield()
        }
        defer { ticks.cancel() }
        var told = service.clock.nanoseconds()
        for await _ in wakes {
            service.reviewWatches(of: caller)
            while let event = next() {
                // Before the client has it: what it does then may take any time.
                told = service.clock.nanoseconds()
                try await output.write(event.text)
                if event.isLast { return }
            }
            if service.clock.nanoseconds() - told >= Self.quiet {
                try await output.write(Array(": the watch goes on\n\n".utf8))
                told = service.clock.nanoseconds()
            }
        }
    }

    /// Bytes of events that wait.
    var waitingBytes: Int { caller.watches.waitingBytes }

    /// Ends the stream: its client is gone.
    func end() { wake.finish() }

    private func next() -> (text: [UInt8], isLast: Bool)? {
        var writer = JSONWriter()
        guard caller.watches.next(into: &writer) else { return nil }
        return try? JSONParser.reading(writer.bytes) { notification in
            let method = notification["method"]?.string ?? ""
            let name = method.split(separator: ".").last ?? ""
            let params = notification["params"]
            var text = Array("event: \(name)\n".utf8)
            if let token = params?["resume"]?.string { text += Array("id: \(token)\n".utf8) }
            text += Array("data: ".utf8)
            text += params.map { Array($0.text) } ?? []
            text += Array("\n\n".utf8)
            return (text, name == "end")
        }
    }
}
