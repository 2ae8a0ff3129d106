import NIOCore
import NIOPosix
import PlainJSON
import Synchronization

/// What a watch asks for besides its query.
struct WatchSettings: Sendable {
    var bucket: Bucket
    /// Members of `watch.start` that never change.
    var members: [JSONValue.Member] = []
    /// A token from an earlier run.
    var resume: String?
}

/// One loop over a watch: keeps it going over connections, and hands out its states.
///
/// Notifications are applied on the event loop as they come. So nothing queues up between the
/// connection and a slow loop but the merged state.
final class WatchRun<Object: Sendable>: WatchLink.Owner {
    private let settings: WatchSettings
    private let kind: Watched<Object>
    private let state: Mutex<State>

    private struct State: Sendable {
        var query: BucketQuery
        var states: WatchStates<Object>
        /// Of the start that the service has answered; nil while there is none.
        var link: WatchLink?
        /// Calls that wait for a link.
        var linkWaiters: [EventLoopPromise<WatchLink>] = []
        /// The loop's wait for a state.
        var consumer: CheckedContinuation<WatchState<Object>?, any Error>?
        /// How the loop ends when it has taken the last state; nil while it goes on.
        var outcome: Result<Void, any Error>?
        var task: Task<Void, Never>?
        var hasBegun = false

        /// What a loop that asks gets at once; nil if it has to wait.
        mutating func ready() -> Next? {
            if case .failure(let error)? = outcome, error is CancellationError {
                return .failure(error)
            }
            if let state = states.take() { return .success(state) }
            guard let outcome else { return nil }
            // An error is told once; a loop that asks again gets its end.
            self.outcome = .success(())
            return outcome.map { nil }
        }
    }

    private typealias Next = Result<WatchState<Object>?, any Error>

    init(_ settings: WatchSettings, _ query: BucketQuery, _ kind: Watched<Object>) {
        (self.settings, self.kind) = (settings, kind)
        let states = WatchStates(kind, order: WatchOrder(query), resume: settings.resume)
        state = Mutex(State(query: query, states: states))
    }

    private var client: ServiceClient { settings.bucket.client }

    /// The query that the watch has.
    var query: BucketQuery { state.withLock { $0.query } }

    // MARK: The loop

    /// Begins, once; false if the run has begun before.
    func begin() -> Bool {
        state.withLock { state in
            guard state.task == nil, state.outcome == nil else { return false }
            state.task = Task { await self.run() }
            return true
        }
    }

    /// The next state; nil after the end.
    func next() async throws -> WatchState<Object>? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let ready = state.withLock { state -> Next? in
                    precondition(state.consumer == nil, "two tasks loop over one watch")
                    if let ready = state.ready() { return ready }
                    state.consumer = continuation
                    return nil
                }
                if let ready { continuation.resume(with: ready) }
            }
        } onCancel: {
            finish(.failure(CancellationError()))
        }
    }

    /// Ends the watch, on the service too.
    func stop() { finish(.success(())) }

    private func finish(_ outcome: Result<Void, any Error>) {
        let (link, task, waiters) = state.withLock { state in
            guard state.outcome == nil else { return (nil, nil, []) as Ending }
            state.outcome = outcome
            defer { (state.link, state.task, state.linkWaiters) = (nil, nil, []) }
            return (state.link, state.task, state.linkWaiters)
        }
        link?.stop()
        task?.cancel()
        for waiter in waiters { waiter.fail(ClientFailure.closed) }
        wake()
    }

    private typealias Ending = (WatchLink?, Task<Void, Never>?, [EventLoopPromise<WatchLink>])

    /// Changes the state, and hands the loop what it then waits for.
    private func update(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        wake()
    }

    private func wake() {
        let wakeUp = state.withLock { state -> WakeUp? in
            guard let consumer = state.consumer, let ready = state.ready() else { return nil }
            state.consumer = nil
            return (consumer, ready)
        }
        if let (consumer, ready) = wakeUp { consumer.resume(with: ready) }
    }

    private typealias WakeUp = (CheckedContinuation<WatchState<Object>?, any Error>, Next)

    // MARK: Connections

    private func run() async {
        let configuration = client.configuration
        let deadline = NIODeadline.now() + TimeAmount(configuration.retryTime)
        var random = SystemRandomNumberGenerator()
        var retries = 0
        while true {
            let begin = ContinuousClock.now
            do {
                try await follow()
            } catch let failure as ClientFailure where Self.isPassing(failure) {
                lose(failure)
                // A link that lasted was no failed attempt.
                if ContinuousClock.now - begin > configuration.longestPause { retries = 0 }
                retries += 1
                let pause = max(
                    configuration.pause(beforeRetry: retries, using: &random),
                    failure.suggestedPause)
                // Somebody whose watch has never begun wants to know why.
                let isLate = NIODeadline.now() + TimeAmount(pause) > deadline
                if isLate, !state.withLock({ $0.hasBegun }) { return finish(.failure(failure)) }
                try? await Task.sleep(for: pause)
                if Task.isCancelled { return }
            } catch {
                return finish(.failure(error))
            }
        }
    }

    /// Whether another attempt may go better.
    private static func isPassing(_ failure: ClientFailure) -> Bool {
        failure == .timedOut || failure.allowsRetry(isRepeatable: true)
    }

    /// Starts the watch on the client's connection and follows it to its end, whose reason it throws.
    private func follow() async throws {
        let configuration = client.configuration
        let connection = try await client.connection(before: client.deadline())
        let link = try await WatchLink.start(
            try params(), on: connection, deadline: client.deadline(), for: self)
        try await link.wait(
            checkingEvery: configuration.watchCheckTime, timeout: configuration.requestTimeout)
    }

    /// The params of `watch.start` at this time.
    private func params() throws -> [UInt8] {
        let (query, resume) = state.withLock { ($0.query, $0.states.position?.resume) }
        let token = resume.map { [JSONValue.Member("resume", .string($0))] } ?? []
        let bucket = JSONValue.Member("bucket", .string(settings.bucket.name))
        return try ServiceClient.text(
            .object([bucket] + query.members + settings.members + token))
    }

    private func lose(_ failure: ClientFailure) {
        client.configuration.logger.info(
            "a watch has lost its connection",
            metadata: ["bucket": "\(settings.bucket.name)", "reason": "\(failure)"])
        update { state in
            guard state.link != nil else { return }
            state.link = nil
            state.states.lose()
        }
    }

    // MARK: From the service

    func began(_ link: WatchLink, resumed: Bool) -> Bool {
        let waiters = state.withLock { state -> [EventLoopPromise<WatchLink>]? in
            guard state.outcome == nil else { return nil }
            state.link = link
            state.hasBegun = true
            state.states.begin(order: WatchOrder(state.query), resumed: resumed)
            defer { state.linkWaiters = [] }
            return state.linkWaiters
        }
        guard let waiters else { return false }
        for waiter in waiters { waiter.succeed(link) }
        wake()
        return true
    }

    func receive(_ method: String, _ params: JSONView, from link: WatchLink) {
        do {
            guard let message = try WatchMessage(method, params, kind) else { return }
            update { if $0.link === link { $0.states.apply(message) } }
            if case .end(let failure) = message { link.fail(ClientFailure.refused(failure)) }
        } catch {
            link.fail(error)
        }
    }

    // MARK: Calls about the watch

    /// The link that is there, or the next one.
    private func link(before deadline: NIODeadline) async throws -> WatchLink {
        let promise = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: WatchLink.self)
        state.withLock { state in
            if let link = state.link {
                promise.succeed(link)
            } else if state.outcome != nil {
                promise.fail(ClientFailure.closed)
            } else {
                state.linkWaiters.append(promise)
            }
        }
        return try await promise.futureResult.value(before: deadline)
    }

    /// Makes a call, again if its connection is lost meanwhile.
    private func call(
        _ method: String, _ members: [JSONValue.Member] = [],
        onResult: @escaping @Sendable (inout WatchStates<Object>, JSONValue) -> Void
    ) async throws -> Int64 {
        let deadline = client.deadline()
        while true {
            let link = try await link(before: deadline)
            do {
                let answer = try await link.call(method, members, deadline: deadline) { answer in
                    self.update { if $0.link === link { onResult(&$0.states, answer) } }
                }
                return try answer.member("change")
            } catch ClientFailure.disconnected {
                link.fail(ClientFailure.disconnected)
                self.forget(link)
            }
        }
    }

    private func forget(_ link: WatchLink) {
        update { state in
            guard state.link === link else { return }
            state.link = nil
            state.states.lose()
        }
    }

    func move(to query: BucketQuery) async throws -> Int64 {
        let order = WatchOrder(query)
        let members = query.members.filter { $0.name != "fields" && $0.name != "paginationKey" }
        let change = try await call("watch.move", members) { states, _ in
            states.reorder(order)
        }
        state.withLock { $0.query = query }
        return change
    }

    func sync() async throws -> Int64 {
        try await call("watch.sync") { states, answer in
            if let change = answer["change"]?.int64 { states.reach(change) }
        }
    }
}
