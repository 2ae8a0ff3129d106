import Backend
import JSONText
import Logging
import Objects
import Synchronization

/// All watches of a service. Provisional: what a watch tells is empty.
public final class WatchHub: Sendable {
    let backend: any Backend
    let limits: Limits
    let watches = Atomic(0)
    private let sessions = Mutex<[ObjectIdentifier: WatchSession]>([:])

    /// A hub without watches.
    public init(backend: any Backend, limits: Limits, logger: Logger) {
        (self.backend, self.limits) = (backend, limits)
    }

    /// The watches of one connection.
    public func session(wake: @escaping @Sendable () -> Void) -> WatchSession {
        let session = WatchSession(self, wake)
        sessions.withLock { $0[ObjectIdentifier(session)] = session }
        return session
    }

    /// What has been counted.
    public func statistics() -> WatchStatistics {
        var statistics = WatchStatistics()
        statistics.watches = watches.load(ordering: .relaxed)
        return statistics
    }

    /// Ends every watch.
    public func stop() {
        for session in sessions.withLock({ Array($0.values) }) {
            session.end(ServiceFailure(.temporarilyUnavailable, "the service stops")) { _ in false }
        }
    }

    func forget(_ session: WatchSession) {
        sessions.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(session)) }
    }
}

/// The watches of one connection.
public final class WatchSession: Sendable {
    private struct State {
        var buckets: [String: BucketName] = [:]
        var opened: Set<String> = []
        var messages: [String] = []
        var last = 0
        var isClosed = false
    }

    private let hub: WatchHub
    private let wake: @Sendable () -> Void
    private let state = Mutex(State())

    init(_ hub: WatchHub, _ wake: @escaping @Sendable () -> Void) {
        (self.hub, self.wake) = (hub, wake)
    }

    private static func unknown(_ watch: String) -> ServiceFailure {
        ServiceFailure(
            .invalidInputData, "there is no watch \(quoted(watch)) on this connection", at: "watch")
    }

    /// Begins a watch.
    public func start(
        _ request: WatchRequest, until stop: StopSignal?
    ) throws(ServiceFailure) -> WatchStart {
        let limits = hub.limits
        let name = state.withLock { state -> String? in
            guard state.buckets.count < limits.watchesPerConnection else { return nil }
            state.last += 1
            state.buckets["w\(state.last)"] = request.bucket
            return "w\(state.last)"
        }
        guard let name else { throw ServiceFailure(.tooManyRequests, "too many watches") }
        hub.watches.add(1, ordering: .relaxed)
        return WatchStart(name: name, resumed: request.resume.map { _ in false })
    }

    /// Another query.
    public func move(
        _ watch: String, to query: WatchQuery, until stop: StopSignal?
    ) throws(ServiceFailure) -> ChangeNumber {
        _ = try buckets(of: watch, movedTo: query)
        return hub.backend.statistics().change
    }

    /// Every bucket that a watch reads after a move.
    public func buckets(
        of watch: String, movedTo query: WatchQuery
    ) throws(ServiceFailure) -> [BucketName] {
        guard let bucket = state.withLock({ $0.buckets[watch] }) else {
            throw Self.unknown(watch)
        }
        return [bucket]
    }

    /// Notifications may follow.
    public func open(_ watch: String) {
        let change = hub.backend.statistics().change
        state.withLock { state in
            guard state.opened.insert(watch).inserted else { return }
            state.messages.append(
                #"{"jsonrpc":"2.0","method":"watch.snapshot","params":{"watch":"\#(watch)","objects":[],"more":false,"change":\#(change),"resume":"AA"}}"#
            )
        }
        wake()
    }

    /// Calls `ready` when all is told.
    public func sync(
        _ watch: String, _ ready: @escaping @Sendable (Result<ChangeNumber, ServiceFailure>) -> Void
    ) {
        guard state.withLock({ $0.buckets[watch] }) != nil else {
            return ready(.failure(Self.unknown(watch)))
        }
        ready(.success(hub.backend.statistics().change))
    }

    /// Ends a watch.
    public func stop(_ watch: String) throws(ServiceFailure) {
        let isKnown = state.withLock { state in
            state.messages.removeAll { $0.contains("\"\(watch)\"") }
            return state.buckets.removeValue(forKey: watch) != nil
        }
        guard isKnown else { throw Self.unknown(watch) }
        hub.watches.subtract(1, ordering: .relaxed)
    }

    /// Appends the next notification.
    public func next(into writer: inout JSONWriter) -> Bool {
        let message = state.withLock { state in
            state.messages.isEmpty ? nil : state.messages.removeFirst()
        }
        guard let message else { return false }
        writer.raw(Array(message.utf8))
        return true
    }

    /// Bytes that wait.
    public var waitingBytes: Int {
        state.withLock { $0.messages.reduce(0) { $0 + $1.utf8.count } }
    }

    /// Whether there is no watch.
    public var isEmpty: Bool { state.withLock { $0.buckets.isEmpty } }

    /// Ends watches.
    public func end(_ failure: ServiceFailure, unless mayRead: (BucketName) -> Bool) {
        let ended = state.withLock { state in
            let ended = state.buckets.filter { !mayRead($0.value) }.keys
            for watch in ended {
                state.buckets[watch] = nil
                state.messages.append(
                    #"{"jsonrpc":"2.0","method":"watch.end","params":{"watch":"\#(watch)","error":{"code":0,"message":"\#(failure.message)","data":{"errorCode":"\#(failure.reason.rawValue)"}}}}"#
                )
            }
            return ended.count
        }
        hub.watches.subtract(ended, ordering: .relaxed)
        if ended > 0 { wake() }
    }

    /// The connection is gone.
    public func close() {
        let count = state.withLock { state in
            defer {
                state.buckets = [:]
                state.messages = []
                state.isClosed = true
            }
            return state.buckets.count
        }
        hub.watches.subtract(count, ordering: .relaxed)
        hub.forget(self)
    }
}
