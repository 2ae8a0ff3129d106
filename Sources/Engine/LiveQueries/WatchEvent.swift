import BackendContract
import Objects

/// Why an object leaves a watch.
enum LeaveReason: String {
    case moved, changed, deleted, expired, query
}

/// What an event is about: an object, or a couple of objects, by the changes that created them.
struct WatchSubject: Hashable, Comparable {
    var first: ChangeNumber
    /// 0 for a single object.
    var second: ChangeNumber = 0

    static func < (a: WatchSubject, b: WatchSubject) -> Bool {
        (a.first, a.second) < (b.first, b.second)
    }
}

/// Whether a client has an object before an event.
enum Held {
    case no, yes
    /// After a gap: it may have the object as it was then.
    case perhaps
}

/// What an event leads to.
enum Outcome {
    /// The client has it. The text is the object as the watch shows it, or a couple.
    case present(text: [UInt8])
    /// The client does not have it. The text names it.
    case absent(LeaveReason, text: [UInt8])

    fileprivate var bytes: Int {
        switch self {
        case .present(let text), .absent(_, let text): text.count
        }
    }
}

/// One change of what a watch tells. Equal watches share the text.
struct WatchEvent {
    var subject: WatchSubject
    /// Whether the client has the subject before the event.
    var held: Held
    var outcome: Outcome
    /// The change that caused it; nil if it was the watch itself that changed.
    var change: ChangeNumber?
    /// What the client shows of the subject before the event; nil if that does not matter: it has
    /// nothing of it, or every write alters what it shows.
    var shown: [UInt8]?

    /// The most that an event occupies in a notification besides its text: its name, a change number,
    /// a reason and, in a ranking, two places.
    static let frameBytes = 96

    /// The most that it occupies in a notification.
    var messageBytes: Int { outcome.bytes + Self.frameBytes }

    /// The memory of its texts.
    var bytes: Int { outcome.bytes + (shown?.count ?? 0) }

    /// Whether the client has after the event what it had before.
    var altersNothing: Bool {
        switch outcome {
        case .present(let text): text == shown
        case .absent: held == .no
        }
    }
}
