import BackendContract
import DequeModule
import JSONText
import Objects
import QueryLanguage
import Runtime
import Synchronization

/// The watches of one connection. What waits for its client is the net effect of what has happened,
/// object by object.
public final class WatchSession: Sendable {
    /// `@unchecked Sendable`: the lock guards it.
    struct State: @unchecked Sendable {
        var watches: [Int: ClientWatch] = [:]
        var names: [String: Int] = [:]
        var lastName = 0
        /// What there is to tell, in the order in which it came up.
        var queue: Deque<Item> = []
        /// Whether the connection has been woken and has not found the queue empty since.
        var isAwake = false
        var isClosed = false
        /// The memory of what waits.
        var bytes = 0
        /// The part of it that is events.
        var effectBytes = 0
        /// When a watch may have to show that it lives, in nanoseconds of the monotonic clock.
        var beatDue = Int64.max

        /// Counts the memory that `body` adds to a watch or frees.
        mutating func counting<Result>(_ watch: ClientWatch, _ body: () -> Result) -> Result {
            let (all, effects) = (watch.waitingBytes, watch.effectBytes)
            defer {
                bytes += watch.waitingBytes - all
                effectBytes += watch.effectBytes - effects
            }
            return body()
        }
    }

    /// What stands in the queue.
    enum Item {
        /// A watch that has something to tell.
        case news(of: Int)
        /// Somebody waits until what stands before this has been told.
        case mark(of: Int, ready: @Sendable () -> Void)
    }

    let hub: WatchHub
    /// Who waits for the snapshots and lists of its watches.
    let owner: String
    let state = Mutex(State())
    private let wake: @Sendable () -> Void

    init(hub: WatchHub, owner: String, wake: @escaping @Sendable () -> Void) {
        self.hub = hub
        self.owner = owner
        self.wake = wake
    }

    /// The bytes of notifications that wait.
    public var waitingBytes: Int { state.withLock { $0.bytes } }

    /// Whether there is no watch.
    public var isEmpty: Bool { state.withLock { $0.watches.isEmpty } }

    // MARK: Changing what waits

    /// Changes a watch, and wakes the connection if that has made `next` worth calling. It does
    /// nothing if the watch is gone.
    @discardableResult
    func change<Result: Sendable>(
        _ number: Int, _ body: (ClientWatch) -> Result
    ) -> Result? {
        var consequences = Consequences()
        let result = change(number, &consequences, body)
        finish(consequences)
        return result
    }

    @discardableResult
    private func change<Result: Sendable>(
        _ number: Int, _ consequences: inout Consequences, _ body: (ClientWatch) -> Result
    ) -> Result? {
        state.withLock { state in
            guard let watch = state.watches[number] else { return nil }
            let result = state.counting(watch) { body(watch) }
            if state.effectBytes > hub.limits.watchBytes { relieve(&state, &consequences) }
            enqueue(watch, &state, &consequences)
            return result
        }
    }

    /// What has to be done after the lock has been released.
    struct Consequences {
        var wakes = false
        var ready: [@Sendable () -> Void] = []
    }

    private func finish(_ consequences: Consequences) {
        for body in consequences.ready { body() }
        if consequences.wakes { wake() }
    }

    /// Puts a watch into the queue if it has something to tell, and those behind it who wait for
    /// that.
    func enqueue(
        _ watch: ClientWatch, _ state: inout State, _ consequences: inout Consequences
    ) {
        if watch.isTooLong(hub.limits.snapshotBytes) { lose(watch, &state, .slow) }
        let count = state.queue.count
        if !watch.isQueued, watch.hasNews {
            watch.isQueued = true
            state.queue.append(.news(of: watch.number))
        }
        if watch.isComplete, !watch.waiting.isEmpty {
            state.queue += watch.waiting.map { .mark(of: watch.number, ready: $0) }
            watch.waiting = []
        }
        guard state.queue.count > count else { return }
        if !state.isAwake { consequences.wakes = true }
        state.isAwake = true
    }

    /// Lets a watch begin again.
    private func lose(_ watch: ClientWatch, _ state: inout State, _ reason: ResyncReason) {
        state.counting(watch) { watch.forget() }
        if case .preparing = watch.stage {
            watch.isOverfull = true
        } else {
            watch.stage = .lost(reason)
            hub.resyncs.add(1, ordering: .relaxed)
        }
    }

    /// Lets the watches begin again that hold most, until the rest is within the limit.
    private func relieve(_ state: inout State, _ consequences: inout Consequences) {
        while state.effectBytes > hub.limits.watchBytes,
            let watch = state.watches.values.filter(\.canBeRelieved)
                .max(by: { $0.effectBytes < $1.effectBytes })
        {
            lose(watch, &state, .slow)
            enqueue(watch, &state, &consequences)
        }
    }

    // MARK: From the matcher

    /// - Returns: whether the caller has to call `wakeUp` soon.
    func receive(_ number: Int, _ events: [WatchEvent], upTo change: ChangeNumber) -> Bool {
        var consequences = Consequences()
        self.change(number, &consequences) { watch in
            guard watch.isGoingOn else { return }
            watch.change = change
            for event in events {
                if watch.later != nil { watch.later!.add(event) } else { watch.effects.add(event) }
            }
        }
        return consequences.wakes
    }

    /// Wakes the connection.
    func wakeUp() { wake() }

    func receive(_ number: Int, isCenterMissing: Bool) {
        change(number) { $0.isCenterMissing = isCenterMissing }
    }

    func receive(_ number: Int, _ list: RankedList) {
        change(number) { watch in
            guard watch.isGoingOn else { return }
            watch.list = list
            watch.change = list.change
            for entry in watch.toldList?.entries ?? [] {
                if let reason = list.departures[entry.creation] {
                    watch.departures[entry.creation] = reason
                }
            }
        }
    }

    /// What waits is not enough to go on: the watch begins again.
    func resync(_ number: Int, _ reason: ResyncReason) {
        change(number) { watch in
            switch watch.stage {
            case .ended, .lost: return
            case .preparing, .telling, .live, .awaiting: break
            }
            watch.forget()
            watch.stage = .lost(reason)
            hub.resyncs.add(1, ordering: .relaxed)
        }
    }

    /// Ends a watch that cannot go on.
    func fail(_ number: Int, _ failure: ServiceFailure) {
        var shown = failure
        if failure.reason == .undefined {
            hub.logger.error("a watch ends", metadata: ["reason": "\(failure.message)"])
            shown = ServiceFailure(
                .temporarilyUnavailable, "the watch could not go on; start it again")
        }
        change(number) { watch in
            watch.forget()
            watch.stage = .ended(shown)
        }
    }

    /// Lets watches speak that have been silent for long.
    func beat(_ now: Int64) {
        let silence = Int64(hub.limits.watchHeartbeatMilliseconds) * 1_000_000
        var consequences = Consequences()
        state.withLock { state in
            guard state.beatDue <= now else { return }
            var due = Int64.max
            for watch in state.watches.values {
                guard watch.isOpen, case .live = watch.stage else { continue }
                if watch.told + silence <= now {
                    watch.mustTell = true
                    enqueue(watch, &state, &consequences)
                    due = min(due, now + silence)
                } else {
                    due = min(due, watch.told + silence)
                }
            }
            state.beatDue = due
        }
        finish(consequences)
    }

    // MARK: For the connection

    /// The answer to `start` or `move` of this watch is in the output: notifications may follow.
    public func open(_ name: String) {
        guard let number = state.withLock({ $0.names[name] }) else { return }
        let now = hub.clock.nanoseconds()
        change(number) { watch in
            watch.isOpen = true
            watch.told = now
        }
        let due = now + Int64(hub.limits.watchHeartbeatMilliseconds) * 1_000_000
        state.withLock { $0.beatDue = min($0.beatDue, due) }
    }

    /// Ends what a watch waits for.
    func remove(_ watch: ClientWatch, _ state: inout State) {
        state.counting(watch) { watch.forget() }
        state.watches[watch.number] = nil
        state.names[watch.name] = nil
        hub.release()
        let (number, group, matcher) = (watch.number, watch.group, hub.matcher)
        guard let group else { return }
        matcher.thread.async { matcher.unsubscribe(number, from: group) }
    }

    /// Nothing of the watch comes from `next` any more.
    ///
    /// - Throws: `INVALID_INPUT_DATA` for an unknown name.
    public func stop(_ name: String) throws(ServiceFailure) {
        let waiting = try withWatch(name) { watch, state in
            remove(watch, &state)
            return watch.waiting
        }
        for body in waiting { body() }
    }

    /// Ends the watches that read a bucket which `mayRead` denies.
    public func end(_ failure: ServiceFailure, unless mayRead: (BucketName) -> Bool) {
        end(failure, where: { !$0.buckets.allSatisfy(mayRead) })
    }

    /// Ends the watches of buckets that satisfy a condition, whatever other buckets they read.
    public func endWatches(
        of isGone: (BucketName) -> Bool, _ failure: ServiceFailure
    ) {
        end(failure, where: { isGone($0.bucket) })
    }

    private func end(_ failure: ServiceFailure, where isOver: (WatchTopic) -> Bool) {
        let numbers = state.withLock { state in
            state.watches.values.filter { isOver($0.topic) }.map(\.number)
        }
        for number in numbers { fail(number, failure) }
    }

    /// The connection is gone.
    public func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            let watches = Array(state.watches.values)
            for watch in watches { remove(watch, &state) }
            defer { state.queue = [] }
            return watches.flatMap(\.waiting)
                + state.queue.compactMap { item in
                    if case .mark(_, let ready) = item { ready } else { nil }
                }
        }
        for body in waiting { body() }
        hub.forget(self)
    }

    /// Calls `body` with the watch of a name, under the lock.
    func withWatch<Result: Sendable>(
        _ name: String, _ body: (ClientWatch, inout State) -> Result
    ) throws(ServiceFailure) -> Result {
        let result = state.withLock { state -> Result? in
            state.names[name].flatMap { state.watches[$0] }.map { body($0, &state) }
        }
        guard let result else {
            throw ServiceFailure(
                .invalidInputData, "the connection has no watch \(quoted(name))", at: "watch")
        }
        return result
    }

    /// Adds a watch that says nothing yet.
    func add(
        _ request: WatchRequest, _ pin: BucketPin?
    ) throws(ServiceFailure) -> ClientWatch {
        let others = state.withLock { $0.watches.count }
        let number = try hub.reserve(besides: others)
        let watch = state.withLock { state -> ClientWatch? in
            guard !state.isClosed else { return nil }
            state.lastName += 1
            let watch = ClientWatch(
                number: number, name: "w\(state.lastName)",
                topic: WatchTopic(request, of: number), pin)
            state.watches[number] = watch
            state.names[watch.name] = number
            return watch
        }
        guard let watch else {
            hub.release()
            throw ServiceFailure(.temporarilyUnavailable, "the connection is closed")
        }
        return watch
    }

    /// Removes a watch that could not begin.
    func drop(_ number: Int) {
        state.withLock { state in
            if let watch = state.watches[number] { remove(watch, &state) }
        }
    }
}

extension ClientWatch {
    /// Whether beginning again would free memory.
    fileprivate var canBeRelieved: Bool {
        switch stage {
        case .lost, .awaiting, .ended: false
        case .preparing, .telling, .live: effectBytes > 0
        }
    }
}
