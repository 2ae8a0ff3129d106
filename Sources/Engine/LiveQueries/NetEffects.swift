import Backend

/// Events that wait for a client, at most one for each object: what lies between is merged.
///
///     effects.add(enter of c7)
///     effects.add(leave of c7)
///     effects.isEmpty                         // true: the client never had it
///
/// Inequality: `bytes` is at least the sum of the texts, and `messageBytes` at least the length of the
/// events in a notification.
struct NetEffects {
    private var events: [WatchSubject: WatchEvent] = [:]
    /// The approximate memory of what waits.
    private(set) var bytes = 0

    /// The most that the events may occupy in a notification.
    private(set) var messageBytes = 0

    /// The memory of an event besides its text.
    private static let eventBytes = 160

    /// Whether there is nothing to tell.
    var isEmpty: Bool { events.isEmpty }

    /// The number of events.
    var count: Int { events.count }

    /// Adds an event after those that wait.
    mutating func add(_ event: WatchEvent) {
        var event = event
        if let former = events[event.subject] {
            (event.held, event.shown) = (former.held, former.shown)
            bytes -= Self.bytes(of: former)
            messageBytes -= former.messageBytes
        }
        if event.altersNothing {
            events[event.subject] = nil
            return
        }
        bytes += Self.bytes(of: event)
        messageBytes += event.messageBytes
        events[event.subject] = event
    }

    /// Adds what waits elsewhere after what waits here.
    mutating func add(_ later: NetEffects) {
        for event in later.events.values { add(event) }
    }

    /// Takes everything, in the order of the changes. What no change caused comes first.
    mutating func take() -> [WatchEvent] {
        defer { self = NetEffects() }
        return events.values.sorted {
            ($0.change ?? 0, $0.subject) < ($1.change ?? 0, $1.subject)
        }
    }

    private static func bytes(of event: WatchEvent) -> Int {
        event.bytes + eventBytes
    }
}
