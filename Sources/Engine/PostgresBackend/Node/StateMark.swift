import EmbeddedBackend

/// What a node remembers of the state of PostgreSQL that it has reached: the epoch, and the batch
/// that led to the state.
struct StateMark {
    let epoch: UUIDBytes
    /// Nil before the first batch.
    let batch: UUIDBytes?

    init(epoch: UUIDBytes, batch: UUIDBytes?) {
        self.epoch = epoch
        self.batch = batch
    }

    /// Nil for bytes that are no mark.
    init?(_ bytes: [UInt8]) {
        guard let epoch = UUIDBytes(bytes.prefix(16)) else { return nil }
        self.epoch = epoch
        batch = UUIDBytes(bytes.dropFirst(16))
    }

    var bytes: [UInt8] { epoch.bytes + (batch?.bytes ?? []) }

    /// What resume tokens say of the state: the first halves of the epoch and of the batch, zeros for
    /// no batch.
    var brief: [UInt8] {
        let none = Array(repeating: UInt8(0), count: Self.half)
        return Array(epoch.bytes.prefix(Self.half)) + (batch?.bytes.prefix(Self.half) ?? none[...])
    }

    static let half = 8
}

extension SharedState {
    var stateMark: StateMark? { StateMark(mark) }
}

extension ClusterTables.Tail {
    /// The changes as a node takes them over.
    var shared: SharedChanges {
        SharedChanges(
            to: SharedState(
                change: head.change, mark: StateMark(epoch: head.epoch, batch: batch).bytes),
            by: changes)
    }

    /// Why PostgreSQL does not continue the history of a state; nil if it does.
    func divergence(from state: SharedState) -> Divergence? {
        Divergence(of: state, from: head, past)
    }
}

/// Why PostgreSQL does not continue the history of a node's state.
enum Divergence: Sendable, CustomStringConvertible {
    /// The node's epoch has ended.
    case epoch
    /// The node was away for so long that its last batch is forgotten.
    case absence
    /// The node lacks so much that a copy of the tables takes less.
    case distance
    /// PostgreSQL has lost changes that the node has.
    case loss(head: UInt64, node: UInt64)

    /// Nil if it does.
    init?(of state: SharedState, from head: ClusterTables.Head, _ past: ClusterTables.Past) {
        if state.stateMark?.epoch != head.epoch {
            self = .epoch
        } else if past == .lost || head.change < state.change {
            self = .loss(head: head.change, node: state.change)
        } else if past == .forgotten {
            self = .absence
        } else {
            return nil
        }
    }

    var description: String {
        switch self {
        case .epoch:
            "PostgreSQL has lost changes, as another node has found, or is another database: its "
                + "epoch is new"
        case .absence: "the node has been away for longer than batches are remembered"
        case .distance: "the node lacks so many changes that a new copy takes less"
        case .loss(let head, let node):
            "PostgreSQL has lost changes of this node: it is at change \(head), the node was at "
                + "\(node)"
        }
    }
}
