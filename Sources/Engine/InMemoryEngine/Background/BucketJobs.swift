import BackendContract
import Columns
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

    private struct UnderWay {
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
    }

    private struct State {
        var underWay: [BucketName: UnderWay] = [:]
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

    func isBusy(_ bucket: BucketName) -> Bool { state.withLock { $0.underWay[bucket] != nil } }

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
            guard !state.isStopped, state.underWay[bucket] == nil else { return nil }
            state.started += 1
            state.underWay[bucket] = UnderWay(
                number: state.started, fields: job.fields, state: published)
            return state.started
        }
        guard let number else {
            job.giveUp(columnRequests, of: bucket)
            return ended()
        }
        thread.async { [self] in
            run(job, number, of: bucket)
            ended()
            ready()
        }
    }

    /// Runs a job until it waits for the writer, or gives up.
    private func run(_ job: any BucketJob, _ number: Int, of bucket: BucketName) {
        var job = job
        job.make { !isWanted(number, of: bucket) }
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
        let watched = state.withLock { $0.underWay.mapValues(\.fields) }
        guard !watched.isEmpty else { return }
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
            case .deleteBucket: written[bucket] = nil
            }
        }
        let deleted = changes.compactMap {
            if case .deleteBucket(let name) = $0 { name } else { nil }
        }
        let dropped = state.withLock { state in
            for (bucket, written) in written {
                state.underWay[bucket]?.unpublished.merge(written) { $1 }
            }
            return deleted.compactMap { bucket in
                state.underWay.removeValue(forKey: bucket)?.finished.map { (bucket, $0) }
            }
        }
        // The thread of a job that has not finished gives it up.
        for (bucket, job) in dropped { job.giveUp(columnRequests, of: bucket) }
    }

    /// The jobs that wait for the writer, with all recorded writes that they have not applied.
    func finished() -> [Finished] {
        state.withLock { state in
            let waiting = state.underWay.filter { $0.value.finished != nil }
            for bucket in waiting.keys { state.underWay[bucket] = nil }
            return waiting.map { bucket, job in
                Finished(
                    bucket: bucket, job: job.finished!,
                    written: job.written.merging(job.unpublished) { $1 })
            }
        }
    }

    /// Records the new states of buckets. They include the recorded writes.
    func published(_ buckets: [BucketName: BucketState]) {
        state.withLock { state in
            for bucket in state.underWay.keys {
                guard let published = buckets[bucket] else { continue }
                state.underWay[bucket]!.state = published
                let unpublished = state.underWay[bucket]!.unpublished
                state.underWay[bucket]!.written.merge(unpublished) { $1 }
                state.underWay[bucket]!.unpublished = [:]
            }
        }
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
