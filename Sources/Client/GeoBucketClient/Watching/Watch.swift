import Synchronization

/// A query that is watched: everything that matches, then what enters, changes and leaves, as long as
/// the loop goes on.
///
///     let near = BucketQuery(
///         clause: .geoDistance("location", center: here, radius: 2_000, putDistanceInto: "d"))
///     for try await state in couriers.watch(near) {
///         for event in state.events { print(event.kind, event.id) }
///         show(state.objects)
///     }
///
/// Each state is one that the bucket had: never a hole, and never half of a write. A loop that is slow gets
/// several changes as one state. The watch outlives its connection and restarts of the service: it
/// connects again, and goes on where it was. Ending the loop ends the watch.
///
/// One loop at a time: a new one ends an earlier one, and starts anew.
public final class Watch<Object: Sendable>: AsyncSequence, Sendable {
    /// What the watch shows at one change number.
    public typealias Element = WatchState<Object>

    private let settings: WatchSettings
    private let kind: Watched<Object>
    private let run: Mutex<WatchRun<Object>>

    init(_ settings: WatchSettings, _ query: BucketQuery, _ kind: Watched<Object>) {
        (self.settings, self.kind) = (settings, kind)
        run = Mutex(WatchRun(settings, query.copy(), kind))
    }

    /// Starts the watch. If the service cannot be reached, the first state is waited for as long as a
    /// call is retried (`ClientConfiguration.retryTime`); later the watch waits for as long as it takes.
    public func makeAsyncIterator() -> Iterator {
        run.withLock { run in
            if !run.begin() {
                run.stop()
                run = WatchRun(settings, run.query, kind)
                _ = run.begin()
            }
            return Iterator(run)
        }
    }

    /// Watches another query from now on: another centre, another radius. The difference comes as
    /// events; the objects that no longer match leave for the reason `query`.
    ///
    /// It waits for the connection if there is none at the time. The query's `fields` stay those of
    /// the first one.
    ///
    /// - Returns: the change number of the first state of the new query.
    /// - Throws: `ClientFailure`, with `.closed` if the loop has ended; `CancellationError`.
    @discardableResult
    public func move(to query: BucketQuery) async throws -> Int64 {
        try await current.move(to: query.copy())
    }

    /// Waits until the watch shows the present: every write that was answered before the call, on any
    /// connection, is in the states whose `change` is at least the result. The loop gets such a state, if
    /// it has not got one.
    ///
    /// - Throws: `ClientFailure`, with `.closed` if the loop has ended; `CancellationError`.
    @discardableResult
    public func sync() async throws -> Int64 { try await current.sync() }

    private var current: WatchRun<Object> { run.withLock { $0 } }

    /// The loop over a watch; when it is gone, the watch ends.
    public final class Iterator: AsyncIteratorProtocol, Sendable {
        private let run: WatchRun<Object>

        fileprivate init(_ run: WatchRun<Object>) { self.run = run }

        deinit { run.stop() }

        /// The next state, as soon as there is one; nil after another loop has begun.
        ///
        /// - Throws: `ClientFailure.refused` if the service refuses the watch or ends it,
        ///   `.unreachable` if it could not be started, `.closed` after the client was closed;
        ///   `JSONMismatch` for an object that is no such model; `CancellationError`.
        public func next() async throws -> WatchState<Object>? { try await run.next() }
    }
}
