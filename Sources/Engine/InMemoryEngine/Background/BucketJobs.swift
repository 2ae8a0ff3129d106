import BackendContract
import JSONText
import Objects
import Runtime
import Synchronization

/// Background work on one bucket: building columns, building a column's order, or renumbering
/// slots.
protocol BucketJob: Sendable {
    /// The numbering of the slots that the job started from.
    var numbering: UInt32 { get }

    /// The fields whose values the job needs of each object that is written while it runs.
    var fields: [FieldPath] { get }

    /// Whether `make` has come to its end. A job that has not gives up.
    var isMade: Bool { get }

    /// Builds the result from the state that the job was given.
    ///
    /// - Parameter isStopped: returns whether the result is no longer wanted.
    mutating func make(isStopped: () -> Bool)

    /// Applies the changes that have been written since the last round.
    ///
    /// - Parameters:
    ///   - written: the objects, deleted ones included, with their values of `fields`.
    ///   - state: the bucket after those writes, with the same slot numbers.
    mutating func catchUp(_ written: BucketJobs.Written, _ state: BucketState)

    /// Installs the result in the bucket. The job has caught up with the bucket's state.
    func install(
        in state: inout BucketState, _ columnRequests: ColumnRequests, of bucket: BucketName)

    /// Called instead of `install` if nothing comes of the job: the bucket's slots have been
    /// renumbered, the bucket has been deleted, or the job cannot run.
    func giveUp(_ columnRequests: ColumnRequests, of bucket: BucketName)
}

extension BucketJob {
    /// True.
    var isMade: Bool { true }
}

/// Runs background jobs on buckets, at most one job at a time for each bucket.
///
/// A job starts from a published state. Writes are recorded while it runs, and the job applies
/// them, round by round, until few are left. The writer applies those few when it installs the
/// result. So no write waits for more than a few changes, and no job sees slots that another job
/// has renumbered.
///
/// A job has one owner: its thread, until it waits for the writer; then the writer. Each job ends
/// with either `install` or `giveUp`, called once by its owner, whatever becomes of its bucket.
final class BucketJobs: Sendable {
    /// The latest values of objects, by the changes that created the objects.
    typealias Written = [ChangeNumber: [ColumnValue]]

    /// A job that is complete except for the latest writes.
    struct Finished {
        let bucket: BucketName
        var job: any BucketJob
        let written: Written
    }

    /// The record of the writes to a bucket since a snapshot, for a deletion that is built beside
    /// them. No job runs on the bucket meanwhile.
    struct Recording: Sendable {
        fileprivate let number: Int
        let bucket: BucketName
        let snapshot: Snapshot

        /// Whether both are the same.
        static func == (a: Recording, b: Recording) -> Bool { a.number == b.number }
    }

    fileprivate struct Waiting {
        let bucket: BucketName
        let begun: @Sendable (Recording?) -> Void
    }

    fileprivate struct UnderWay {
        let number: Int
        let fields: [FieldPath]
        /// Writes that have been published, but that the job has not applied yet.
        var written: Written = [:]
        /// The bucket after those writes.
        var state: BucketState
        /// Writes of the transaction that is being published.
        var unpublished: Written = [:]
        /// The finished job, while it waits for the writer.
        var finished: (any BucketJob)?
        /// Lets the job go on in another round; nil if there is a recording and no job.
        var goOn: (@Sendable (any BucketJob) -> Void)?

        var unapplied: Int { written.count + unpublished.count }
    }

    fileprivate struct State {
        var underWay: [BucketName: UnderWay] = [:]
        /// Recordings that begin when no job runs on their buckets any more.
        var waiting: [Waiting] = []
        var started = 0
        var isStopped = false
    }

    private let state = Mutex(State())
    private let columnRequests: ColumnRequests
    private let ready: @Sendable () -> Void

    private let objectsTakenOn: Int

    /// - Parameters:
    ///   - objectsTakenOn: the number of changed objects that the writer applies itself.
    ///   - columnRequests: is told of the jobs that give up.
    ///   - ready: called on any thread when a job has ended.
    init(
        objectsTakenOn: Int, _ columnRequests: ColumnRequests, ready: @escaping @Sendable () -> Void
    ) {
        self.objectsTakenOn = objectsTakenOn
        self.columnRequests = columnRequests
        self.ready = ready
    }

    var isIdle: Bool { state.withLock { $0.underWay.isEmpty } }

    func isBusy(_ bucket: BucketName) -> Bool { state.withLock { $0.isBusy(bucket) } }

    /// Stops all jobs at their next check. Their results are discarded.
    func stop() { state.withLock { $0.isStopped = true } }

    // MARK: For the writer

    /// Starts a job on a bucket's published state. It gives up if another job runs on that bucket.
    ///
    /// - Parameter ended: called on the job's thread when the job waits for the writer or is no
    ///   longer wanted.
    func start(
        _ job: any BucketJob, of bucket: BucketName, _ published: BucketState,
        on thread: WorkThread, ended: @escaping @Sendable () -> Void
    ) {
        let number = state.withLock { state -> Int? in
            guard !state.isStopped, !state.isBusy(bucket) else { return nil }
            state.started += 1
            let number = state.started
            state.underWay[bucket] = UnderWay(
                number: number, fields: job.fields, state: published,
                goOn: { [self] job in
                    thread.async { [self] in
                        catchUp(job, number, of: bucket)
                        ready()
                    }
                })
            return number
        }
        guard let number else {
            job.giveUp(columnRequests, of: bucket)
            return ended()
        }
        thread.async { [self] in
            var job = job
            job.make { !isWanted(number, of: bucket) }
            catchUp(job, number, of: bucket)
            ended()
            ready()
        }
    }

    /// Has a job catch up until it waits for the writer, or gives up.
    private func catchUp(_ job: any BucketJob, _ number: Int, of bucket: BucketName) {
        var job = job
        while true {
            switch nextRound(of: bucket, number, job) {
            case .catchUp(let written, let state):
                if state.numbering == job.numbering { job.catchUp(written, state) }
            case .handedOver: return
            case .over: return job.giveUp(columnRequests, of: bucket)
            }
        }
    }

    /// Records the writes of a transaction that is about to be published. The job of a deleted
    /// bucket ends.
    func note(_ changes: [Change], _ parsers: JSONParserPool) {
        guard !changes.isEmpty else { return }
        var watched = state.withLock { $0.underWay.mapValues(\.fields) }
        guard !watched.isEmpty else { return }
        let deleted = changes.compactMap {
            if case .deleteBucket(let name) = $0 { name } else { nil }
        }
        for bucket in deleted { watched[bucket] = nil }
        var written: [BucketName: Written] = [:]
        for change in changes {
            let bucket = change.bucket
            guard let fields = watched[bucket] else { continue }
            switch change {
            case .upsert(let object, let text):
                let values =
                    fields.isEmpty ? [] : parsers.values(of: fields, object.metadata, text)
                written[bucket, default: [:]][object.creation] = values
            case .delete(_, let creations, _):
                for creation in creations { written[bucket, default: [:]][creation] = [] }
            case .deleteBucket: break
            }
        }
        let dropped = state.withLock { state in
            let dropped = deleted.compactMap { bucket in
                state.underWay.removeValue(forKey: bucket)?.finished.map { (bucket, $0) }
            }
            for (bucket, written) in written {
                state.underWay[bucket]?.unpublished.merge(written) { $1 }
            }
            return dropped
        }
        // The thread of a job that has not finished gives it up.
        for (bucket, job) in dropped { job.giveUp(columnRequests, of: bucket) }
    }

    /// The jobs that wait for the writer, with all recorded writes that they have not applied,
    /// unless these are too many for the writer.
    func finished() -> [Finished] {
        state.withLock { state in
            let waiting = state.underWay.filter {
                $0.value.finished != nil && $0.value.unapplied <= objectsTakenOn
            }
            for bucket in waiting.keys { state.underWay[bucket] = nil }
            return waiting.map { bucket, job in
                Finished(
                    bucket: bucket, job: job.finished!,
                    written: job.written.merging(job.unpublished) { $1 })
            }
        }
    }

    /// Records the new states of buckets. They include the recorded writes. A job that waits and has
    /// missed too many of them goes on.
    func published(_ buckets: [BucketName: BucketState]) {
        state.withLock { state in
            for bucket in state.underWay.keys {
                guard let published = buckets[bucket] else { continue }
                state.underWay[bucket]!.state = published
                let unpublished = state.underWay[bucket]!.unpublished
                state.underWay[bucket]!.written.merge(unpublished) { $1 }
                state.underWay[bucket]!.unpublished = [:]
                let underWay = state.underWay[bucket]!
                guard let job = underWay.finished, underWay.unapplied > objectsTakenOn else {
                    continue
                }
                state.underWay[bucket]!.finished = nil
                underWay.goOn?(job)
            }
        }
    }

    // MARK: For deletions

    /// Begins to record the writes to a bucket when no job runs on it.
    ///
    /// - Parameter begun: called on the writer's thread; with nil if the bucket does not exist.
    func record(_ bucket: BucketName, _ begun: @escaping @Sendable (Recording?) -> Void) {
        state.withLock { $0.waiting.append(Waiting(bucket: bucket, begun: begun)) }
    }

    /// Begins the recordings that may begin, at the published state.
    func beginRecordings(at snapshot: Snapshot) {
        let begun = state.withLock { state in
            var begun: [(Waiting, Recording?)] = []
            for waiting in exchange(&state.waiting, with: []) {
                // Of those that wait for one bucket, one begins.
                if state.underWay[waiting.bucket] == nil {
                    begun.append((waiting, state.record(waiting.bucket, at: snapshot)))
                } else {
                    state.waiting.append(waiting)
                }
            }
            return begun
        }
        for (waiting, recording) in begun { waiting.begun(recording) }
    }

    /// The recorded writes that have not been taken yet, and the bucket after them; nil if the bucket
    /// has been deleted.
    func unapplied(_ recording: Recording) -> (written: Written, state: BucketState)? {
        state.withLock { $0.underWay(recording).map { ($0.written, $0.state) } }
    }

    /// Takes what `unapplied` returns.
    func takeUnapplied(_ recording: Recording) -> (written: Written, state: BucketState)? {
        state.withLock { state in
            guard let underWay = state.underWay(recording) else { return nil }
            state.underWay[recording.bucket]!.written = [:]
            return (underWay.written, underWay.state)
        }
    }

    /// Ends a recording, unless it has ended. Another one may begin then.
    func end(_ recording: Recording) {
        let isAwaited = state.withLock { state in
            guard state.underWay(recording) != nil else { return false }
            state.underWay[recording.bucket] = nil
            return state.isBusy(recording.bucket)
        }
        if isAwaited { ready() }
    }

    // MARK: For the jobs

    private func isWanted(_ number: Int, of bucket: BucketName) -> Bool {
        state.withLock { !$0.isStopped && $0.underWay[bucket]?.number == number }
    }

    private enum Round {
        /// The job has to apply these writes before it can wait for the writer.
        case catchUp(Written, BucketState)
        /// The job waits for the writer, who owns it now.
        case handedOver
        /// The job is no longer wanted, or has not been made.
        case over
    }

    private func nextRound(of bucket: BucketName, _ number: Int, _ job: any BucketJob) -> Round {
        state.withLock { state in
            guard let underWay = state.underWay[bucket], underWay.number == number,
                !state.isStopped
            else { return .over }
            guard job.isMade else {
                state.underWay[bucket] = nil
                return .over
            }
            guard underWay.written.count > objectsTakenOn else {
                state.underWay[bucket]!.finished = job
                return .handedOver
            }
            state.underWay[bucket]!.written = [:]
            return .catchUp(underWay.written, underWay.state)
        }
    }
}

extension BucketJobs.State {
    /// Whether a job may not start on a bucket.
    fileprivate func isBusy(_ bucket: BucketName) -> Bool {
        underWay[bucket] != nil || waiting.contains { $0.bucket == bucket }
    }

    fileprivate func underWay(_ recording: BucketJobs.Recording) -> BucketJobs.UnderWay? {
        underWay[recording.bucket].flatMap { $0.number == recording.number ? $0 : nil }
    }

    fileprivate mutating func record(
        _ bucket: BucketName, at snapshot: Snapshot
    ) -> BucketJobs.Recording? {
        guard let published = snapshot.bucket(bucket) else { return nil }
        started += 1
        underWay[bucket] = BucketJobs.UnderWay(number: started, fields: [], state: published)
        return BucketJobs.Recording(number: started, bucket: bucket, snapshot: snapshot)
    }
}

extension JSONParserPool {
    /// The values of some fields of an object.
    fileprivate func values(
        of fields: [FieldPath], _ metadata: ObjectMetadata, _ text: [UInt8]
    ) -> [ColumnValue] {
        withParser { parser in
            guard let view = try? parser.parse(metadata.document(around: text)) else { return [] }
            return fields.map { ColumnValue($0.value(in: view)) }
        }
    }
}
