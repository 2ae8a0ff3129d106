import BackendContract
import Dispatch
import JSONText
import Objects
import Runtime
import Synchronization
import TestSupport
import Testing

@testable import InMemoryEngine

/// What a job leaves to the writer.
@Suite struct BucketJobTests {
    /// A job that notes how many writes it has applied, and on which thread.
    private struct CountingJob: BucketJob {
        let applied: Applied
        var numbering: UInt32 { 0 }
        var fields: [FieldPath] { [] }

        mutating func make(isStopped: () -> Bool) {}

        mutating func catchUp(_ written: BucketJobs.Written, _ state: BucketState) {
            applied.counts.withLock { $0.append(written.count) }
        }

        func install(
            in state: inout BucketState, _ columnRequests: ColumnRequests, of bucket: BucketName
        ) {}

        func giveUp(_ columnRequests: ColumnRequests, of bucket: BucketName) {}
    }

    private final class Applied: Sendable {
        let counts = Mutex<[Int]>([])
    }

    private static func changes(_ count: Int) -> [Change] {
        (1...count).map {
            upsert(
                shops, uuid($0), creation: ChangeNumber($0), change: ChangeNumber($0), at: nil)
        }
    }

    private static func jobs(ready: @escaping @Sendable () -> Void) -> BucketJobs {
        let requests = ColumnRequests(
            columnsPerMinute: 1, refusal: .zero, clock: ServiceClock(), due: {})
        return BucketJobs(objectsTakenOn: 4, requests, ready: ready)
    }

    @Test(arguments: [4, 5])
    func `a job that waits goes on if a transaction has changed too much for the writer`(
        objects: Int
    ) {
        let ready = DispatchSemaphore(value: 0)
        let jobs = Self.jobs { ready.signal() }
        let (thread, applied, parsers) = (WorkThread("job"), Applied(), JSONParserPool())
        jobs.start(CountingJob(applied: applied), of: shops, BucketState(), on: thread) {}
        #expect(ready.wait(timeout: .now() + 180) == .success)
        jobs.note(Self.changes(objects), parsers)
        let isMuch = objects > 4
        #expect(jobs.finished().map(\.written.count) == (isMuch ? [] : [objects]))
        guard isMuch else { return }
        jobs.published([shops: BucketState()])
        #expect(ready.wait(timeout: .now() + 180) == .success)
        #expect(applied.counts.withLock { $0 } == [objects])
        #expect(jobs.finished().map(\.written.count) == [0])
        #expect(jobs.isIdle)
    }

    @Test func `a recording waits for the job on its bucket, and no job begins during it`() throws {
        let ready = DispatchSemaphore(value: 0)
        let jobs = Self.jobs { ready.signal() }
        let (thread, applied, parsers) = (WorkThread("job"), Applied(), JSONParserPool())
        let engine = makeEngine()
        engine.apply(Self.changes(3), upTo: 3)
        jobs.start(CountingJob(applied: applied), of: shops, BucketState(), on: thread) {}
        #expect(ready.wait(timeout: .now() + 180) == .success)
        let begun = Mutex<[BucketJobs.Recording?]>([])
        jobs.record(shops) { recording in begun.withLock { $0.append(recording) } }
        jobs.beginRecordings(at: engine.snapshot)
        #expect(begun.withLock { $0.count } == 0 && jobs.isBusy(shops))
        #expect(jobs.finished().count == 1)
        #expect(jobs.isBusy(shops), "another job goes first")
        jobs.beginRecordings(at: engine.snapshot)
        let recording = try #require(begun.withLock { $0.first } ?? nil)
        jobs.note(Self.changes(2), parsers)
        jobs.published([shops: BucketState()])
        #expect(jobs.unapplied(recording)?.written.keys.sorted() == [1, 2])
        #expect(jobs.takeUnapplied(recording)?.written.count == 2)
        #expect(jobs.unapplied(recording)?.written.count == 0)
        #expect(jobs.isBusy(shops))
        // The bucket goes.
        jobs.note([.deleteBucket(shops)], parsers)
        #expect(jobs.unapplied(recording) == nil && !jobs.isBusy(shops))
    }
}
