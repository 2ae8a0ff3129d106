import BackendContract

/// Events that wait for a client, at most one for each object: what lies between is merged.
///
///     effects.add(enter of c7)
///     effects.add(leave of c7)
///     effects.isEmpty                         // true: the client never had it
///
/// Inequality: `bytes` is at least the sum of the texts, and `messageBytes` at least the length of the
/// events in a notification.
struct NetEffects {
    /// In no order.
    private var events: [WatchEvent] = []
    /// The places of the subjects in `events`, once these are many.
    private var places: [WatchSubject: Int] = [:]
    /// The approximate memory of what waits.
    private(set) var bytes = 0

    /// The most that the events may occupy in a notification.
    private(set) var messageBytes = 0

    /// The memory of an event besides its text.
    private static let eventBytes = 160

    /// So many events are compared one by one. A client that keeps up has fewer.
    private static let few = 8

    /// Whether there is nothing to tell.
    var isEmpty: Bool { events.isEmpty }

    /// The number of events.
    var count: Int { events.count }

    /// Adds an event after those that wait.
    mutating func add(_ event: WatchEvent) {
        var event = event
        let place = place(of: event.subject)
        if let place {
            let former = events[place]
            (event.held, event.shown) = (former.held, former.shown)
            bytes -= Self.bytes(of: former)
            messageBytes -= former.messageBytes
        }
        if event.altersNothing {
            if let place { remove(at: place) }
            return
        }
        bytes += Self.bytes(of: event)
        messageBytes += event.messageBytes
        if let place { events[place] = event } else { append(event) }
    }

    private func place(of subject: WatchSubject) -> Int? {
        places.isEmpty ? events.firstIndex { $0.subject == subject } : places[subject]
    }

    private mutating func append(_ event: WatchEvent) {
        events.append(event)
        if !places.isEmpty {
            places[event.subject] = events.count - 1
        } else if events.count > Self.few {
            for (place, event) in events.enumerated() { places[event.subject] = place }
        }
    }

    /// Removes an event. The last one takes its place.
    private mutating func remove(at place: Int) {
        let (removed, last) = (events[place].subject, events.removeLast())
        if place < events.count { events[place] = last }
        guard !places.isEmpty else { return }
        places[last.subject] = place
        places[removed] = nil
    }

    /// Adds what waits elsewhere after what waits here.
    mutating func add(_ later: NetEffects) {
        for event in later.events { add(event) }
    }

    /// Takes everything, in the order of the changes. What no change caused comes first.
    mutating func take() -> [WatchEvent] {
        defer { self = NetEffects() }
        return events.sorted { ($0.change ?? 0, $0.subject) < ($1.change ?? 0, $1.subject) }
    }

    private static func bytes(of event: WatchEvent) -> Int {
        event.bytes + eventBytes
    }
}
