import BackendContract
import Objects
import QueryLanguage
import Synchronization
import Testing

@testable import LiveQueries

/// What the queue of states that the matcher has not seen yet may cost.
@Suite(.timeLimit(.minutes(5))) struct StateQueueTests {
    private final class FakeState: PinnedState {
        let change: ChangeNumber

        init(_ change: ChangeNumber) { self.change = change }

        func bucket(_ name: BucketName, at time: Int64) -> (any PinnedBucket)? { nil }

        func find(
            _ query: Query, in bucket: BucketName, at time: Int64, atMost count: Int,
            until stop: StopSignal?
        ) throws(ServiceFailure) -> any FoundObjects {
            throw ServiceFailure(.undefined, "a fake finds nothing")
        }
    }

    private struct FakeStep: StateStep {
        let bucket = BucketName(trusted: "b1")
        let object: ChangeNumber
        let deletion: ChangeNumber?
        let touchedCount = 1

        func forEachTouched(_ body: (BucketName, ChangeNumber, ChangeNumber?) -> Void) {
            body(bucket, object, deletion)
        }

        func forEachPlaced(in bucket: BucketName, _ body: (ObjectID, [FieldPoint]) -> Void) {}
    }

    private static func follow(
        _ queue: StateQueue, _ change: ChangeNumber, touching object: ChangeNumber,
        deletes: Bool = false
    ) {
        queue.follows(
            FakeState(change), after: FakeStep(object: object, deletion: deletes ? change : nil))
    }

    @Test func `states that wait are taken together, and the last word about an object counts`() {
        let queue = StateQueue(mostTouched: 10) {}
        for change in 1...10_000 as ClosedRange<ChangeNumber> {
            Self.follow(queue, change, touching: change % 10)
        }
        Self.follow(queue, 10_001, touching: 3, deletes: true)
        #expect(queue.waiting?.change == 10_001)
        let news = queue.take()
        #expect(news.steps.count <= 16 && news.touchedCount == 10 && !news.isOverfull)
        #expect(news.last?.change == 10_001)
        let touched = news.touched { $0.text == "b1" }[BucketName(trusted: "b1")]!
        #expect(touched.keys.sorted() == Array(0...9))
        #expect(touched[3]! == 10_001 && touched[4]! == nil)
        #expect(news.touched { _ in false }.isEmpty)
        #expect(queue.waiting == nil && queue.take().last == nil)
    }

    @Test func `of the states that wait only the last is held`() {
        let queue = StateQueue(mostTouched: 10) {}
        weak var first: FakeState?
        do {
            let state = FakeState(1)
            first = state
            queue.follows(state, after: FakeStep(object: 1, deletion: nil))
        }
        #expect(first != nil)
        Self.follow(queue, 2, touching: 2)
        #expect(first == nil && queue.take().steps.count == 2)
    }

    @Test(arguments: [(10, false), (11, true)])
    func `of more objects than it remembers the queue keeps the last state alone`(
        count: Int, isOverfull: Bool
    ) {
        let wakes = Atomic(0)
        let queue = StateQueue(mostTouched: 10) { wakes.add(1, ordering: .relaxed) }
        for change in 1...16 as ClosedRange<ChangeNumber> {
            Self.follow(queue, change, touching: 0)
        }
        for object in 1...count {
            Self.follow(queue, 16 + UInt64(object), touching: UInt64(object))
        }
        let news = queue.take()
        #expect(news.isOverfull == isOverfull && news.last?.change == UInt64(16 + count))
        #expect((news.steps.isEmpty && news.touchedCount == 0) == isOverfull)
        #expect(wakes.load(ordering: .relaxed) == 1)
    }
}
