import BackendContract
import Objects

/// What a write does to what is there, as far as permission is concerned. Each includes the one before
/// it.
public enum WriteKind: Int, Sendable, Comparable {
    /// Makes objects, and touches none that exist.
    case adds
    /// Also replaces and merges objects.
    case changes
    /// Also deletes objects, says when they expire, or puts others in their place with all that the
    /// service set.
    case deletes

    /// By what they include.
    public static func < (a: WriteKind, b: WriteKind) -> Bool { a.rawValue < b.rawValue }

    /// The least that calls of a method do; the params may do more.
    init(leastOf method: MethodName) {
        switch method {
        case .create, .put, .putMany: self = .adds
        case .patch: self = .changes
        default: self = .deletes
        }
    }
}

extension Write {
    /// What the write does, or may do: which objects exist is not known before its turn.
    var kind: WriteKind {
        switch self {
        case .put(_, let object, let condition):
            object.id == nil || condition == .absent ? .adds : object.replacingKind
        case .putMany(_, let objects):
            objects.reduce(.adds) { $1.id == nil ? $0 : max($0, $1.replacingKind) }
        case .patch(_, _, _, _, _, let expiry, _):
            if case .at = expiry { .deletes } else { .changes }
        case .delete, .deleteBucket, .deleteWhere: .deletes
        }
    }
}

extension PutObject {
    /// What it does to an object that has its id.
    fileprivate var replacingKind: WriteKind {
        restored != nil || expires != nil ? .deletes : .changes
    }
}
