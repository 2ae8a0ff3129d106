import BackendContract
import Objects
import QueryLanguage
import Runtime

/// A deletion of the objects that satisfy a clause, on its way to the transaction that does it.
///
/// What takes long happens beside the writer: the search, at one state, and if the objects are many,
/// the making of the bucket without them. What is written meanwhile is looked at again in rounds,
/// which become shorter. The writer looks at the last few writes only.
public struct FoundDeletion: Sendable {
    /// The clause that the objects satisfy.
    public let clause: Clause
    /// The bucket of the objects.
    public let bucket: BucketName
    private var search: DeletionSearch?
    /// The bucket without the objects, if there are many.
    private(set) var rest: BucketRest?
    /// How long objects have been judged so far.
    private var judged = Duration.zero

    /// What has to happen before the writer can do the deletion.
    public enum Step: Sendable {
        /// The writer may try it.
        case commit
        /// The writes to the bucket have to be recorded: see `Engine.record`.
        case record
    }

    /// A deletion that has not begun.
    public init(of clause: Clause, in bucket: BucketName) {
        (self.clause, self.bucket) = (clause, bucket)
    }

    /// The changes that created the objects, in ascending order.
    public var creations: [ChangeNumber] { search?.found ?? [] }

    /// Whether the writes to the bucket are recorded for it.
    var recording: BucketJobs.Recording? { rest?.recording }

    /// Searches, or looks at what has been written since the last time, on the calling thread.
    ///
    /// - Throws: `QUERY_TIMEOUT` if all searching takes longer than a query may.
    mutating func advance(on engine: Engine) throws(ServiceFailure) -> Step {
        let start = engine.clock.now
        let time = Duration.milliseconds(engine.limits.queryMilliseconds) - judged
        let bounds = ReadBounds(deadline: engine.clock.deadline(after: time), stop: nil)
        defer { judged += start.duration(to: engine.clock.now) }
        if rest != nil, try !catchUp(on: engine, within: bounds) {
            // It begins again: nobody else may have seen anything of it.
            drop(on: engine)
        }
        if rest != nil { return .commit }
        if search == nil {
            search = try DeletionSearch(clause, in: bucket, on: engine, within: bounds)
        } else {
            try engine.inTime(
                search!.catchUp(
                    with: engine.snapshot, on: engine, fewerThan: .max, until: bounds.deadline))
        }
        return creations.count > engine.tuning.deletedInPlace ? .record : .commit
    }

    /// Makes the bucket without the objects, from the state at which a recording has begun; without
    /// one, the bucket is gone, and so are its objects.
    mutating func advance(
        with recording: BucketJobs.Recording?, on engine: Engine
    ) throws(ServiceFailure) {
        guard let recording else {
            search = nil
            return
        }
        let end = engine.bounds().deadline
        do {
            try engine.inTime(
                search!.catchUp(
                    with: recording.snapshot, on: engine, fewerThan: .max, until: end))
        } catch {
            engine.end(recording)
            throw error
        }
        rest = BucketRest(recording, without: creations)
    }

    /// Applies the recorded writes until few are left.
    ///
    /// - Returns: false if the bucket has to be made again.
    private mutating func catchUp(
        on engine: Engine, within bounds: ReadBounds
    ) throws(ServiceFailure) -> Bool {
        while let round = engine.takeUnapplied(rest!.recording) {
            let written = round.written.keys.sorted()
            // What has been written since is in the next round.
            try engine.inTime(
                search!.judge(
                    written, in: engine.snapshot, on: engine, until: bounds.deadline))
            guard rest!.apply(written, round.state, without: creations) else { return false }
            if written.count <= engine.tuning.objectsTakenOn { return true }
        }
        return false
    }

    /// Brings the deletion to the present state, on the writer's thread.
    ///
    /// - Returns: false if that is too much for the writer's thread.
    mutating func settle(on engine: Engine) throws(ServiceFailure) -> Bool {
        let (most, end) = (
            engine.tuning.objectsTakenOn, ThreadClock.deadline(after: engine.tuning.turn)
        )
        guard let recording else {
            return try search!.catchUp(
                with: engine.snapshot, on: engine, fewerThan: most + 1, until: end)
        }
        guard let round = engine.unapplied(recording), round.written.count <= most else {
            return false
        }
        let written = round.written.keys.sorted()
        guard try search!.judge(written, in: engine.snapshot, on: engine, until: end) else {
            return false
        }
        return rest!.apply(written, round.state, without: creations)
    }

    /// Forgets what was made, so that the deletion begins again.
    private mutating func drop(on engine: Engine) {
        if let recording { engine.end(recording) }
        (search, rest) = (nil, nil)
    }
}
