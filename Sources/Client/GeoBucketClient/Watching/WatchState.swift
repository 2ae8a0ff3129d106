/// What a watch shows at one change number, and how it came to that.
public struct WatchState<Object: Sendable>: Sendable {
    /// What matches at `change`: exactly what a query would have answered then.
    public let objects: WatchedSet<Object>
    /// What has happened since the state before: empty if only `change`, `resume` or the connection
    /// are others. If the loop was slow, several notifications together, each object once at most.
    public let events: [WatchEvent<Object>]
    /// The number of the last change that the state includes.
    public let change: Int64
    /// With this token a later watch of the same query goes on from this state.
    public let resume: String?
    /// Whether a snapshot is among what led here: at the beginning, and when the service cannot say what
    /// has happened since. The events are then the difference.
    public let isSnapshot: Bool
    /// False after a start with a token from an earlier run, until a snapshot comes: `objects` then
    /// has only what was told since.
    public let isComplete: Bool
    /// False while the connection is lost: the state may be of the past. The watch goes on by itself.
    public let isConnected: Bool
    /// Whether an object that the query follows as its centre is gone; its last position counts.
    public let centerIsMissing: Bool
}

/// The states of a watch: notifications in, states out. What the consumer has not taken is merged, so
/// it is never more than the objects that have changed meanwhile.
struct WatchStates<Object: Sendable>: Sendable {
    /// What the service has told.
    private(set) var set: WatchedSet<Object>
    private(set) var position: WatchPosition?
    private(set) var isComplete = true
    private var isConnected = false
    private var centerIsMissing = false
    /// A snapshot of which not all has come.
    private var incoming: [Watched<Object>.Item] = []

    /// What the consumer has.
    private var base: WatchedSet<Object>
    private var news: News?
    private var hasBegun = false

    private struct News {
        var notifications = 0
        /// The events of the only notification.
        var events: [WatchEvent<Object>] = []
        /// Why objects left, by id.
        var reasons: [String: LeaveReason] = [:]
        /// What left without having been held.
        var unheld: [String: WatchEvent<Object>] = [:]
        var isSnapshot = false
    }

    /// - Parameter resume: a token from an earlier run.
    init(_ kind: Watched<Object>, order: WatchOrder, resume: String?) {
        set = WatchedSet(kind, order: order)
        base = set
        position = resume.map { WatchPosition(change: 0, resume: $0) }
    }

    // MARK: From the service

    /// The service has begun to tell.
    ///
    /// - Parameter resumed: whether it goes on from the position; else a snapshot follows.
    mutating func begin(order: WatchOrder, resumed: Bool) {
        incoming = []
        reorder(order)
        if resumed, !hasBegun { isComplete = false }
        isConnected = true
        // The service says so again if it is.
        centerIsMissing = false
        if hasBegun { touch() }
    }

    mutating func lose() {
        isConnected = false
        if hasBegun { touch() }
    }

    mutating func reorder(_ order: WatchOrder) { set.reorder(order) }

    mutating func apply(_ message: WatchMessage<Object>) {
        switch message {
        case .snapshot(let items, let position):
            incoming += items
            guard let position else { return }
            let old = set
            set.replace(with: incoming)
            (incoming, isComplete) = ([], true)
            note(set.difference(from: old), isSnapshot: true)
            reach(position)
        case .events(let events, let position):
            guard !events.isEmpty || self.position != position || !hasBegun else { return }
            note(events.compactMap { apply($0) })
            reach(position)
        case .resync: incoming = []
        case .end: break
        }
    }

    private mutating func apply(_ event: WatchMessage<Object>.Event) -> WatchEvent<Object>? {
        switch event {
        case .put(let item, let index): return set.put(item, at: index)
        case .leave(let id, let reason):
            if let event = set.remove(id, reason) { return event }
            guard !isComplete else { return nil }
            return WatchEvent(
                kind: .left(reason), id: id, object: nil, index: nil, previousIndex: nil)
        case .center(let isMissing):
            centerIsMissing = isMissing
            return nil
        }
    }

    /// Everything up to a change number has been told.
    mutating func reach(_ change: Int64) {
        reach(WatchPosition(change: max(change, position?.change ?? 0), resume: position?.resume))
        touch()
    }

    private mutating func reach(_ position: WatchPosition) {
        self.position = position
        hasBegun = true
    }

    private mutating func touch() { if news == nil { news = News() } }

    private mutating func note(_ events: [WatchEvent<Object>], isSnapshot: Bool = false) {
        touch()
        news!.notifications += 1
        news!.events = news!.notifications == 1 ? events : []
        news!.isSnapshot = news!.isSnapshot || isSnapshot
        for event in events {
            if case .left(let reason) = event.kind { news!.reasons[event.id] = reason }
            if event.object == nil {
                news!.unheld[event.id] = event
            } else {
                news!.unheld[event.id] = nil
            }
        }
    }

    // MARK: To the consumer

    /// The state now, and what led to it since the last call; nil if nothing is new.
    mutating func take() -> WatchState<Object>? {
        guard hasBegun, let news else { return nil }
        var events = news.events
        if news.notifications > 1 {
            events = set.difference(from: base, reasons: news.reasons)
            events += news.unheld.values.sorted { $0.id < $1.id }
        }
        self.news = nil
        base = set
        return WatchState(
            objects: set, events: events, change: position?.change ?? 0, resume: position?.resume,
            isSnapshot: news.isSnapshot, isComplete: isComplete, isConnected: isConnected,
            centerIsMissing: centerIsMissing)
    }
}
