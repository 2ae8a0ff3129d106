/// What happened to one object of a watch.
///
///     switch event.kind {
///     case .entered, .changed: show(event.object!)
///     case .left(let reason): hide(event.id, reason)
///     }
public struct WatchEvent<Object: Sendable>: Sendable {
    /// What happened.
    public enum EventKind: Sendable, Hashable {
        /// It matches now and did not before.
        case entered
        /// It matched before and still does; its fields, its distances or its place in a ranking
        /// are others.
        case changed
        /// It matches no longer.
        case left(LeaveReason)
    }

    /// What happened.
    public let kind: EventKind
    /// The object's id; of a pair, both ids.
    public let id: String
    /// The object as it is now, or as it was when it left. Nil only for one that left unseen, after a
    /// start with a token from an earlier run.
    public let object: Object?
    /// In a ranking, its place after the event; nil if it left, and in other watches.
    public let index: Int?
    /// In a ranking, its place before the event; nil if it entered, and in other watches.
    ///
    /// Applied one after the other, the events turn the old list into the new one.
    public let previousIndex: Int?
}

/// Why an object left a watch.
public enum LeaveReason: String, Sendable, Hashable {
    /// It moved out of the area.
    case moved
    /// Its fields no longer match.
    case changed
    /// It was deleted, or its bucket was.
    case deleted
    /// It expired.
    case expired
    /// The watch asks for something else now.
    case query
    /// It left while the watch could not follow, for a reason that nobody told.
    case unseen

    /// The reason with a name of the protocol; `unseen` for one that this client does not know.
    init(name: String?) { self = name.flatMap(Self.init(rawValue:)) ?? .unseen }
}
