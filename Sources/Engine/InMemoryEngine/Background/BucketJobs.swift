import Backend
import Columns
import JSONText
import Objects
import Runtime
import Synchronization

/// What is made of one bucket in the background: columns, the order of one, renumbered slots.
protocol BucketJob: Sendable {
    /// The numbering of the slots it was made for.
    var numbering: UInt32 { get }

    /// The fields whose values it has to be told of each object that is written meanwhile.
    var fields: [FieldPath] { get }

    /// Makes it of the state that the job was given.
    ///
    /// - Parameter isStopped: tells that nobody wants it any more.
    mutating func make(isStopped: () -> Bool)

    /// Takes on what has been written since.
    ///
    /// - Parameters:
    ///   - written: the objects, deleted ones too, with their values of `fields`.
    ///   - state: the bucket after those writes, its slots numbered as they were.
    mutating func catchUp(_ written: BucketJobs.Written, _ state: BucketState)

    /// Puts what was made in the bucket whose state it has caught up with.
    func install(
        in state: inout BucketState, _ columnRequests: ColumnRequests, of bucket: BucketName)

    /// Called instead of `install` when the bucket has got other slots or is gone.
    func giveUp(_ columnRequests: ColumnRequests, of bucket: BucketName)
}

/// Work on buckets in the background, at most one job at a time for each.
///
/// A job starts from a published state. What is written meanwhile is noted, and the job takes it on,
/// round by round, until little is left; that little the writer does when it takes the result. So no
/// write waits for more than some changes, and no job meets slots that another one has renumbered.
final class BucketJobs: Sendable {
    /// Objects by the changes that created them, and their latest values.
    typealias Written = [ChangeNumber: [ColumnValue]]

    /// A job that has been done but for the latest writes.
    struct Finished {
        let bucket: BucketName
        var job: any BucketJob
        let written: Written
    }

    private struct UnderWay {
        let number: Int
        let fields: [FieldPath]
        /// Written and published, but not yet taken on.
        var written: Written = [:]
        /// The bucket after that.
        var state: BucketState
        /// Written by the transaction that is being published.
        var unpublished: Written = [:]
        /// What was made, once it waits for the writer.
        var finished: (any BucketJob)?
    }

    private struct State {
        var underWay: [BucketName: UnderWay] = [:]
        var started = 0
        var isStopped = false
    }

    private let state = Mutex(State())
    private let ready: @Sendable () -> Void

    private let objectsTakenOn: Int

    /// - Parameters:
    ///   - objectsTakenOn: so many the writer takes on itself.
    ///   - ready: called on some thread when a job is over.
    init(objectsTakenOn: Int, ready: @escaping @Sendable () -> Void) {
        self.objectsTakenOn = objectsTakenOn
        self.ready = ready
    }

    var isIdle: Bool { state.withLock { $0.underWay.isEmpty } }

    func isBusy(_ bucket: BucketName) -> Bool { state.withLock { $0.underWay[bucket] != nil } }

    /// Ends what is under way as soon as it looks; its results are not taken any more.
    func stop() { state.withLock { $0.isStopped = true } }

    // MARK: The writer's side

    /// Starts a job on a bucket's published state, unless one is under way there.
    ///
    /// - Parameter ended: called on that thread when the job waits for the writer or is not wanted any more.
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
        guard let number else { return ended() }
        thread.async { [self] in
            var job = job
            job.make { !isWanted(number, of: bucket) }
            while let (written, state) = nextRound(of: bucket, number, &job) {
                if state.numbering == job.numbering { job.catchUp(written, state) }
            }
            ended()
            ready()
        }
    }

    /// Notes what a transaction that is about to be published has written; the job of a deleted bucket
    /// ends.
    func note(_ changes: [Change], _ parsers: ParserPool) {
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
            case .delete(_, let creations):
                for creation in creations { written[bucket, default: [:]][creation] = [] }
            case .deleteBucket: written[bucket] = nil
            }
        }
        let deleted = changes.compactMap {
            if case .deleteBucket(let name) = $0 { name } else { nil }
        }
        state.withLock { state in
            for bucket in deleted { state.underWay[bucket] = nil }
            for (bucket, written) in written {
                state.underWay[bucket]?.unpublished.merge(written) { $1 }
            }
        }
    }

    /// The jobs that wait for the writer, with everything that has been noted.
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

    /// Says what buckets are now, what was noted included.
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

    // MARK: The jobs' side

    private func isWanted(_ number: Int, of bucket: BucketName) -> Bool {
        state.withLock { !$0.isStopped && $0.underWay[bucket]?.number == number }
    }

    /// What is to be taken on before the job can wait for the writer. Nil when it waits, or when nobody
    /// wants it any more.
    private func nextRound(
        of bucket: BucketName, _ number: Int, _ job: inout any BucketJob
    ) -> (Written, BucketState)? {
        state.withLock { state in
            guard let underWay = state.underWay[bucket], underWay.number == number,
                !state.isStopped
            else { return nil }
            guard underWay.written.count > objectsTakenOn else {
                state.underWay[bucket]!.finished = job
                return nil
            }
            state.underWay[bucket]!.written = [:]
            return (underWay.written, underWay.state)
        }
    }
}

extension ParserPool {
    /// An object's values of some fields.
    fileprivate func values(
        of fields: [FieldPath], _ metadata: ObjectMetadata, _ text: [UInt8]
    ) -> [ColumnValue] {
        withParser { parser in
            guard let view = try? parser.parse(metadata.document(around: text)) else { return [] }
            return fields.map { ColumnValue($0.value(in: view)) }
        }
    }
}
