import BackendContract
import EmbeddedBackend
import Objects
import Runtime
import Synchronization
import SyntheticData
import Testing

@testable import PostgresBackend

@Suite(.timeLimit(.minutes(5))) struct AppliedStateTests {
    private let clock = ServiceClock()

    private func state(_ change: ChangeNumber) -> SharedState {
        SharedState(change: change, mark: [1])
    }

    /// How a read ended, and when.
    private struct End: Sendable {
        let read: Int
        let isRefused: Bool
        let time: MonotonicTime
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `reads are refused at their deadlines, whatever their order, and not before`(
        seed: UInt64
    ) async throws {
        var random = SplitMix64(seed: seed)
        let applied = AppliedState(state(1), clock: clock)
        let (ends, continuation) = AsyncStream<End>.makeStream()
        let begin = clock.now
        let deadlines = (0..<2_000).map { _ in
            begin.advanced(by: .milliseconds(Int(random.next() % 300)))
        }
        for (read, deadline) in deadlines.enumerated() {
            // Every fourth waits for a change that comes.
            let change: ChangeNumber = read % 4 == 0 ? 2 : 3
            applied.wait([
                .init(change: change, deadline: deadline) { [clock] failure in
                    continuation.yield(
                        End(read: read, isRefused: failure != nil, time: clock.now))
                }
            ])
        }
        applied.reach(state(2))
        var left = Set(deadlines.indices)
        for await end in ends {
            #expect(left.remove(end.read) != nil, "seed \(seed): \(end)")
            #expect(
                end.isRefused ? end.time >= deadlines[end.read] : end.read % 4 == 0,
                "seed \(seed): \(end)")
            if left.isEmpty { break }
        }
    }

    @Test func `reads of a node that ends are refused at once, and so are those to come`() {
        let applied = AppliedState(state(1), clock: clock)
        let refused = Atomic(0)
        let waiter = AppliedState.Waiter(
            change: 2, deadline: clock.now.advanced(by: .seconds(3_600))
        ) { failure in
            if failure != nil { refused.add(1, ordering: .relaxed) }
        }
        applied.wait([waiter, waiter])
        #expect(refused.load(ordering: .relaxed) == 0)
        applied.end(ServiceFailure(.temporarilyUnavailable, "the node ends"))
        #expect(refused.load(ordering: .relaxed) == 2)
        applied.wait([waiter])
        #expect(refused.load(ordering: .relaxed) == 3)
    }
}
