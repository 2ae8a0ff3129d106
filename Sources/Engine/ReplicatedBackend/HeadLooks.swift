import Backend
import Objects
import PostgresStore
import Runtime
import Synchronization

/// Asks PostgreSQL for its head on behalf of reads that must see every answered write. One question
/// on its way serves all reads that arrived before it was sent.
///
/// `@unchecked Sendable`: only the thread accesses `tables` and `outage`.
final class HeadLooks: @unchecked Sendable {
    private struct State {
        var arrived: [AppliedState.Ready] = []
        var isScheduled = false
    }

    private let address: PostgresAddress
    private let applied: AppliedState
    private let limits: Limits
    private let thread = WorkThread("head")
    private let state = Mutex(State())
    private let isStopped = Atomic(false)
    private let lastRoundTrip = Atomic<Int64>(0)
    private var tables: ClusterTables?
    private var outage: Outage

    init(_ address: PostgresAddress, _ limits: Limits, _ applied: AppliedState) {
        self.address = address
        self.limits = limits
        self.applied = applied
        outage = Outage(limit: .milliseconds(limits.failoverMilliseconds))
    }

    /// The time that the last question took, in microseconds.
    var roundTripMicroseconds: Int64 { lastRoundTrip.load(ordering: .relaxed) }

    /// Calls `ready` when the node has reached every change that was answered before the call.
    func ask(_ ready: @escaping AppliedState.Ready) {
        let isFirst = state.withLock { state in
            state.arrived.append(ready)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { thread.async { self.look() } }
    }

    /// Returns when no question is under way.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        thread.drain()
    }

    private func look() {
        let ready = state.withLock { state in
            defer { state.arrived = [] }
            if state.arrived.isEmpty { state.isScheduled = false }
            return state.arrived
        }
        guard !ready.isEmpty else { return }
        let deadline = ContinuousClock.now + .milliseconds(limits.failoverMilliseconds)
        switch head() {
        case .success(let change):
            applied.wait(
                ready.map {
                    AppliedState.Waiter(change: change, deadline: deadline, ready: $0)
                })
        case .failure(let failure): for ready in ready { ready(failure) }
        }
        thread.async { self.look() }
    }

    /// The head, as soon as PostgreSQL answers.
    private func head() -> Result<ChangeNumber, ServiceFailure> {
        var last = "it does not answer"
        while !isStopped.load(ordering: .relaxed), outage.isWorthTrying(.now) {
            let start = ContinuousClock.now
            let deadline = outage.deadline(start)
            do throws(PostgresFailure) {
                let connected = try connected()
                let asked = ContinuousClock.now
                let state = applied.reached
                let (head, past) = try connected.head(
                    after: state.change, state.stateMark?.batch)
                lastRoundTrip.store(Int64((.now - asked) / .microseconds(1)), ordering: .relaxed)
                applied.see(head.change, at: start)
                outage.ended()
                // If PostgreSQL does not have this state, the follower finds out too; until then
                // nothing is answered.
                guard let divergence = Divergence(of: state, from: head, past) else {
                    return .success(head.change)
                }
                last = divergence.description
            } catch {
                tables = nil
                last = error.description
                outage.failed(since: start)
            }
            guard ContinuousClock.now < deadline else { break }
            pause(Outage.pause)
        }
        return .failure(ServiceFailure(.temporarilyUnavailable, "no read can begin: \(last)"))
    }

    private func connected() throws(PostgresFailure) -> ClusterTables {
        if let tables { return tables }
        let fresh = try ClusterTables(
            address, answerTime: .milliseconds(limits.failoverMilliseconds))
        tables = fresh
        return fresh
    }
}
