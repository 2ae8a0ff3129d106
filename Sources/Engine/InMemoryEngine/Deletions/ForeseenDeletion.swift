import BackendContract
import Objects
import PersistentStructures

/// A deletion that another store has done or is about to do, on its way into this one.
///
/// What takes long happens beside the writer: the making of the bucket without the objects. It may begin
/// with the objects that satisfy a clause here, before it is known which ones the deletion has.
public struct ForeseenDeletion: Sendable {
    /// The bucket of the objects.
    public let bucket: BucketName
    private var rest: BucketRest
    /// The changes that created the objects that are here and are not in the rest, in ascending order.
    private(set) var creations: [ChangeNumber]
    /// The changes that created the objects that are deleted, in ascending order. Some may not be here.
    private var deleted: [ChangeNumber]

    /// - Parameter creations: what is deleted, as far as it is here, in ascending order.
    init(_ rest: BucketRest, without creations: [ChangeNumber]) {
        bucket = rest.recording.bucket
        (self.rest, self.creations, deleted) = (rest, creations, creations)
    }

    var recording: BucketJobs.Recording { rest.recording }

    /// Whether both began in the same moment.
    public func isSame(as other: ForeseenDeletion) -> Bool { recording == other.recording }

    /// The bucket without the objects.
    var remainder: BucketState { rest.state }

    /// The positions of the objects of a list that are here.
    ///
    /// - Complexity: O(both).
    public func present(among list: [ChangeNumber]) -> [Int] {
        var next = creations.indices.firstPosition { creations[$0] < list.first ?? .max }
        return list.indices.filter { position in
            while next < creations.count, creations[next] < list[position] { next += 1 }
            return next < creations.count && creations[next] == list[position]
        }
    }

    /// Turns it into the deletion of other objects, at the present state.
    ///
    /// - Parameter list: the changes that created them, in ascending order. Some may not be here.
    /// - Returns: false if the bucket has to be made again.
    mutating func turn(into list: [ChangeNumber], on engine: Engine) -> Bool {
        guard let round = engine.takeUnapplied(recording) else { return false }
        deleted = list
        let present = list.filter { round.state.isAlive(created: $0) }
        let changed = Set(round.written.keys).union(Self.differences(creations, present))
        creations = present
        return rest.apply(changed.sorted(), round.state, without: creations)
    }

    /// Brings it to the present state, on the writer's thread.
    ///
    /// - Returns: false if that is too much for the writer's thread.
    mutating func settle(on engine: Engine) -> Bool {
        guard let round = engine.unapplied(recording),
            round.written.count <= engine.tuning.objectsTakenOn
        else { return false }
        guard !round.written.isEmpty else { return true }
        return turn(into: deleted, on: engine)
    }

    /// What only one of two lists has that ascend.
    private static func differences(
        _ a: [ChangeNumber], _ b: [ChangeNumber]
    ) -> [ChangeNumber] {
        var found: [ChangeNumber] = []
        var rest = b[...]
        for element in a {
            while let next = rest.first, next < element { found.append(rest.removeFirst()) }
            if rest.first == element { rest.removeFirst() } else { found.append(element) }
        }
        return found + rest
    }
}

extension Engine {
    /// Goes on from a deletion of which the clause is known, and that has been made so far that the
    /// bucket without its objects is there; nil for any other, which ends.
    public func foresee(_ deletion: FoundDeletion) -> ForeseenDeletion? {
        guard let rest = deletion.rest, deletion.creations.count > tuning.deletedInPlace else {
            end(deletion)
            return nil
        }
        return ForeseenDeletion(rest, without: deletion.creations)
    }

    /// Whether a deletion seems not to have been done yet.
    public func isAhead(_ deletion: ForeseenDeletion) -> Bool {
        snapshot.bucket(deletion.bucket)?.isAlive(created: deletion.creations[0]) == true
    }

    /// Turns a deletion into that of a list, on the calling thread.
    ///
    /// - Parameter list: the changes that created the objects, in ascending order. Some may not be here.
    /// - Returns: nil if the writer has to delete the objects one by one; then the deletion ends.
    public func turn(
        _ deletion: ForeseenDeletion, into list: [ChangeNumber]
    ) -> ForeseenDeletion? {
        var deletion = deletion
        if deletion.turn(into: list, on: self) { return deletion }
        end(deletion)
        return nil
    }

    /// Brings deletions to the present state, on the writer's thread.
    ///
    /// - Returns: those of which that was little.
    public func settled(
        _ deletions: [BucketName: ForeseenDeletion]
    ) -> [BucketName: ForeseenDeletion] {
        deletions.compactMapValues { deletion in
            var deletion = deletion
            return deletion.settle(on: self) ? deletion : nil
        }
    }

    /// Ends what was begun for a deletion. It is called before the deletion is published, or instead.
    public func end(_ deletion: ForeseenDeletion) { end(deletion.recording) }
}
