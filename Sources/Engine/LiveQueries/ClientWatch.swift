import BackendContract
import Objects

/// One watch of a connection: what its client has, and what it has to be told.
///
/// The session's lock guards it.
final class ClientWatch {
    /// What the client is told next.
    enum Stage {
        /// What it begins with is being found. Events wait.
        case preparing
        /// Its snapshot is told, piece by piece. Events wait.
        case telling
        case live
        /// It has to be told that a snapshot follows. Events are of no use until then.
        case lost(ResyncReason)
        /// It has been told that a snapshot follows, and nothing has been found yet.
        case awaiting
        /// It has to be told that the watch has ended.
        indirect case ended(ServiceFailure)
    }

    let number: Int
    let name: String
    /// What it watches.
    private(set) var topic: WatchTopic
    /// The group that tells it; nil until it has one.
    private(set) var group: WatchGroup?
    /// Keeps the buckets of the topic on this node; nil if all buckets are.
    var pin: BucketPin?
    var stage = Stage.preparing
    /// Whether the answer that names the watch has been written.
    var isOpen = false
    /// Whether it stands in the session's queue.
    var isQueued = false

    /// What has happened since what the client was told.
    var effects = NetEffects()
    /// What has happened since the watch was moved, while the difference is being found.
    var later: NetEffects?
    /// The change of the state that `effects` lead to.
    var change: ChangeNumber = 0
    /// Whether a notification is due although nothing has happened.
    var mustTell = false
    /// Whether the followed object is gone, if the client has to be told.
    var isCenterMissing: Bool?
    /// When it was last told something, in nanoseconds of the monotonic clock.
    var told: Int64 = 0

    /// The piece of the snapshot that comes next; nil while it is being made.
    var piece: SnapshotPiece?
    /// Makes the pieces.
    var snapshot: SnapshotReader?
    /// The change of the snapshot's state.
    var snapshotChange: ChangeNumber = 0
    /// What the token of the snapshot is bound to.
    var snapshotScope: [UInt8] = []

    /// A ranking: the list that the client has; nil before the first.
    var toldList: RankedList?
    /// A ranking: the list as it is.
    var list: RankedList?
    /// Why objects have left the list that the client has.
    var departures: [ChangeNumber: LeaveReason] = [:]
    /// Whether the list differs because the watch was moved.
    var isListMoved = false
    /// Whether the interval between lists is waived, for somebody who waits.
    var isListUrgent = false
    /// Whether it waits for the end of the interval.
    var isPaused = false

    /// Whether more has happened while it was being prepared than waits for a client.
    var isOverfull = false

    /// Called when the snapshot that is being told is complete.
    var waiting: [@Sendable () -> Void] = []

    init(number: Int, name: String, topic: WatchTopic, _ pin: BucketPin?) {
        self.number = number
        self.name = name
        self.topic = topic
        self.pin = pin
    }

    /// Lets a group tell it.
    func join(_ group: WatchGroup) {
        self.group = group
        topic = group.topic
    }

    /// The memory of the events that wait. A snapshot in their place would free it.
    var effectBytes: Int { effects.bytes + (later?.bytes ?? 0) }

    /// The memory of what waits.
    var waitingBytes: Int {
        effectBytes + (piece?.bytes.count ?? 0) + (hasList ? list?.bytes ?? 0 : 0)
    }

    /// Whether everything up to what has been matched has been told or is told next.
    var isComplete: Bool {
        switch stage {
        case .preparing, .telling, .lost, .awaiting: false
        case .live, .ended: later == nil
        }
    }

    /// Whether it has to begin again, and the client knows.
    var isAwaiting: Bool { if case .awaiting = stage { true } else { false } }

    /// Whether events lead on from what the client has, or will have.
    var isGoingOn: Bool {
        switch stage {
        case .preparing: !isOverfull
        case .telling, .live: true
        case .lost, .awaiting, .ended: false
        }
    }

    /// Whether there is something to tell.
    var hasNews: Bool {
        guard isOpen, !isPaused else { return false }
        switch stage {
        case .preparing, .awaiting: return false
        case .telling: return piece != nil
        case .lost, .ended: return true
        case .live:
            return later == nil
                && (!effects.isEmpty || mustTell || isCenterMissing != nil || hasList)
        }
    }

    /// Whether the list shows something else than what the client was told.
    var hasList: Bool {
        guard let list, let toldList else { return false }
        return !toldList.shows(list)
    }

    /// Whether what it tells next is longer than a notification may be. One event may always be told.
    func isTooLong(_ maximumBytes: Int) -> Bool {
        guard case .live = stage, later == nil else { return false }
        let others = isCenterMissing == nil ? 0 : 1
        if effects.count + others > 1, effects.messageBytes > maximumBytes { return true }
        guard let list, let toldList, list.change != toldList.change else { return false }
        return toldList.exceeds(maximumBytes, in: list, beside: others)
    }

    /// Forgets what waits, and the change that it led to: a restored store may have gone back.
    func forget() {
        change = 0
        effects = NetEffects()
        later = nil
        piece = nil
        snapshot = nil
        mustTell = false
        list = nil
        toldList = nil
        departures = [:]
        isListMoved = false
        isListUrgent = false
        isPaused = false
        isOverfull = false
    }
}

/// Why a watch begins again with a snapshot.
enum ResyncReason: String {
    case slow, restored
}
