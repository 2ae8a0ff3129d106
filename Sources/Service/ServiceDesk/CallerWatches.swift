import BackendContract
import JSONText
import LiveQueries
import Objects
import Synchronization

/// The watches of one caller. Their session begins with the first watch and ends with the
/// connection.
///
///     caller.watches.onWake { … }                      // `next` has something to say, any thread
///     caller.watches.open()                            // a `watch.start` is answered
///     while caller.watches.next(into: &writer) { … }   // one notification after the other
public final class CallerWatches: Sendable {
    private struct State {
        var session: WatchSession?
        var wake: (@Sendable () -> Void)?
        /// The watch that was begun or moved by the request that is being answered.
        var unopened: String?
        /// What the caller might read when the watches were last reviewed; nil before that.
        var reviewed: Reach?
        var isClosed = false
    }

    private let state = Mutex(State())

    /// No watches.
    public init() {}

    private var session: WatchSession? { state.withLock { $0.session } }

    // MARK: What the connection does

    /// Whether there is no watch.
    public var isEmpty: Bool { session?.isEmpty ?? true }

    /// Bytes of notifications that wait.
    public var waitingBytes: Int { session?.waitingBytes ?? 0 }

    /// Has `body` called on any thread when `next` becomes worth calling, and not again before it has
    /// returned false.
    public func onWake(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.wake = body } }

    /// Lets the watch speak whose start or move has just been answered, if there is one.
    ///
    /// - Returns: whether there is.
    public func open() -> Bool {
        let (session, watch) = state.withLock { state in
            defer { state.unopened = nil }
            // It was permitted when its request began; since then the login may have changed.
            if state.unopened != nil { state.reviewed = nil }
            return (state.session, state.unopened)
        }
        guard let session, let watch else { return false }
        session.open(watch)
        return true
    }

    /// Appends the next notification, without a line break.
    ///
    /// - Returns: false if there is none now.
    public func next(into writer: inout JSONWriter) -> Bool {
        session?.next(into: &writer) ?? false
    }

    /// Ends all watches with their connection.
    public func close() {
        let session = state.withLock { state in
            state.isClosed = true
            state.wake = nil
            defer { state.session = nil }
            return state.session
        }
        session?.close()
    }

    // MARK: What its requests do

    /// The session, which the first watch begins.
    private func session(
        of hub: WatchHub, for owner: String
    ) throws(ServiceFailure) -> WatchSession {
        if let session { return session }
        // A caller has one request of this kind at a time.
        let session = hub.session(of: owner) { [weak self] in self?.wake() }
        let isClosed = state.withLock { state in
            if !state.isClosed { state.session = session }
            return state.isClosed
        }
        if isClosed { session.close() }
        return session
    }

    private func wake() { state.withLock { $0.wake }?() }

    private func session(with watch: String) throws(ServiceFailure) -> WatchSession {
        guard let session, !session.isEmpty else {
            throw ServiceFailure(
                .invalidInputData, "the connection has no watch \(quoted(watch))", at: "watch")
        }
        return session
    }

    func start(
        _ request: WatchRequest, for owner: String, in hub: WatchHub, until stop: StopSignal?
    ) throws(ServiceFailure) -> WatchStart {
        let start = try session(of: hub, for: owner).start(request, until: stop)
        state.withLock { $0.unopened = start.name }
        return start
    }

    func buckets(
        of watch: String, movedTo query: WatchQuery
    ) throws(ServiceFailure) -> [BucketName] {
        try session(with: watch).buckets(of: watch, movedTo: query)
    }

    func move(
        _ watch: String, to query: WatchQuery, until stop: StopSignal?
    ) throws(ServiceFailure) -> ChangeNumber {
        let change = try session(with: watch).move(watch, to: query, until: stop)
        state.withLock { $0.unopened = watch }
        return change
    }

    /// How to wait until everything is among what `next` returns.
    func sync(_ watch: String) throws(ServiceFailure) -> Preparation.Wait {
        let session = try session(with: watch)
        return { ready in session.sync(watch, ready) }
    }

    func stop(_ watch: String) throws(ServiceFailure) { try session(with: watch).stop(watch) }

    // MARK: Review

    /// Ends the watches that the caller may no longer have. Compares, unless the login has changed.
    ///
    /// - Parameter reach: what the caller may read by now.
    func review(_ reach: Reach) {
        let session = state.withLock { state -> WatchSession? in
            if state.reviewed == reach { return nil }
            state.reviewed = reach
            return state.session
        }
        guard let session else { return }
        guard !reach.isEmpty else {
            let failure = ServiceFailure(.unauthorized, "the login is no longer valid")
            return session.end(failure) { _ in false }
        }
        let failure = ServiceFailure(.notAllowed, "a bucket of the watch is not within your reach")
        session.end(failure, unless: reach.contains)
    }

    /// Ends the watches of buckets that this node is not to hold any more.
    func review(_ placement: any BucketPlacement) {
        let failure = ServiceFailure(
            .temporarilyUnavailable, "the bucket moves to other nodes; watch it there")
        session?.endWatches(of: { !placement.isToHold($0) }, failure)
    }
}
