import BackendContract
import Dispatch
import EmbeddedBackend
import Objects
import Runtime
import Synchronization

/// Asks PostgreSQL for its head on behalf of reads that must see every answered write. One question
/// on its way serves all reads that arrived before it was sent.
///
/// A question costs some 0.1 ms of processor time here and there, as much as several reads. So when
/// one has served several reads, the next waits until as many have arrived, for a short time.
///
/// `@unchecked Sendable`: only the thread accesses `tables`, `known` and `outage`.
final class HeadLooks: @unchecked Sendable {
    private struct State {
        var arrived: [AppliedState.Ready] = []
        /// The number of reads that have arrived.
        var reads = 0
        var isScheduled = false
        /// How many reads the thread waits for.
        var awaited: Int?
    }

    private let connector: ClusterConnector
    private let applied: AppliedState
    private let thread = WorkThread("head")
    private let state = Mutex(State())
    /// Signalled when the awaited reads have arrived.
    private let enough = DispatchSemaphore(value: 0)
    private let isStopped = Atomic(false)
    private let lastRoundTrip = Atomic<Int64>(0)
    private var tables: ClusterTables?
    /// The number of a state that the server of this connection knows.
    private var known: UInt64?
    private var outage: Outage

    init(_ connector: ClusterConnector, _ applied: AppliedState) {
        self.connector = connector
        self.applied = applied
        outage = Outage(limit: connector.failoverTime, clock: connector.clock)
    }

    /// The time that the last question took, in microseconds.
    var roundTripMicroseconds: Int64 { lastRoundTrip.load(ordering: .relaxed) }

    /// Calls `ready` when the node has reached every change that was answered before the call.
    ///
    /// - Parameter count: the number of reads that ask.
    func ask(_ count: Int, _ ready: @escaping AppliedState.Ready) {
        let (isFirst, areEnough) = state.withLock { state in
            state.arrived.append(ready)
            state.reads += count
            defer { state.isScheduled = true }
            let areEnough = state.awaited.map { $0 <= state.reads } ?? false
            if areEnough { state.awaited = nil }
            return (!state.isScheduled, areEnough)
        }
        if isFirst { thread.async { self.look() } }
        if areEnough { enough.signal() }
    }

    /// What has become of a batch; nil if PostgreSQL does not answer.
    ///
    /// - Parameters:
    ///   - beginning: the first bytes of its id.
    ///   - change: a change that the batch, or one before it, led to.
    func past(
        ofBatchThatBegins beginning: ArraySlice<UInt8>, at change: ChangeNumber
    ) -> ClusterTables.Past? {
        thread.sync {
            guard !isStopped.load(ordering: .relaxed), outage.isWorthTrying() else { return nil }
            let start = connector.clock.now
            // A connection that nobody has used for long may have been cut.
            for _ in 0..<(tables == nil ? 1 : 2) {
                do throws(PostgresFailure) {
                    let past = try connected().past(ofBatchThatBegins: beginning, at: change)
                    outage.ended()
                    return past
                } catch {
                    tables = nil
                }
            }
            outage.failed(since: start)
            return nil
        }
    }

    /// Returns when no question is under way, and ends the connection.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        thread.sync { tables = nil }
    }

    private func look() {
        let (ready, reads) = state.withLock { state in
            defer { (state.arrived, state.reads) = ([], 0) }
            if state.arrived.isEmpty { state.isScheduled = false }
            return (state.arrived, state.reads)
        }
        guard !ready.isEmpty else { return }
        let deadline = connector.clock.now.advanced(by: connector.failoverTime)
        switch head() {
        case .success(let change):
            applied.wait(
                ready.map {
                    AppliedState.Waiter(change: change, deadline: deadline, ready: $0)
                })
        case .failure(let failure): for ready in ready { ready(failure) }
        }
        if reads > 1 { gather(reads) }
        thread.async { self.look() }
    }

    /// Waits until some reads have arrived, for `longestGathering` at most.
    private func gather(_ count: Int) {
        let mustWait = state.withLock { state in
            if state.reads < count { state.awaited = count }
            return state.awaited != nil
        }
        guard mustWait else { return }
        guard enough.wait(timeout: .now() + Self.longestGathering) == .timedOut else { return }
        let isSignalled = state.withLock { state in
            defer { state.awaited = nil }
            return state.awaited == nil
        }
        if isSignalled { enough.wait() }
    }

    /// Some four questions' processor time. A closed loop of 16 connections is as fast with it as with
    /// half of it, and costs PostgreSQL a quarter less.
    private static let longestGathering = DispatchTimeInterval.microseconds(500)

    /// The head, as soon as PostgreSQL answers.
    private func head() -> Result<ChangeNumber, ServiceFailure> {
        let clock = connector.clock
        var last = "it does not answer"
        while !isStopped.load(ordering: .relaxed), outage.isWorthTrying() {
            let start = clock.now
            let deadline = outage.deadline(start)
            do throws(PostgresFailure) {
                let connected = try connected()
                let asked = clock.now
                let (state, number) = applied.numbered
                let (head, past) = try head(of: connected, after: state, number)
                lastRoundTrip.store(
                    asked.duration(to: clock.now).nanoseconds / 1_000, ordering: .relaxed)
                applied.see(head.change, at: start)
                outage.ended()
                // If PostgreSQL does not have this state, the follower finds out too; until then
                // nothing is answered.
                guard let divergence = Divergence(of: state, from: head, past) else {
                    known = number
                    applied.confirm(head.change == state.change ? number : nil)
                    return .success(head.change)
                }
                last = divergence.description
            } catch {
                tables = nil
                last = error.description
                outage.failed(since: start)
            }
            applied.confirm(nil)
            guard clock.now < deadline else { break }
            pause(Outage.pause)
        }
        return .failure(ServiceFailure(.temporarilyUnavailable, "no read can begin: \(last)"))
    }

    /// The head, and what has become of the batch that led to a state. As long as a connection lasts,
    /// its server forgets nothing, so it is not asked twice for the same batch.
    private func head(
        of tables: ClusterTables, after state: SharedState, _ number: UInt64
    ) throws(PostgresFailure) -> (ClusterTables.Head, ClusterTables.Past) {
        if number == known { return (try tables.head(), .known) }
        return try tables.head(after: state.change, state.stateMark?.batch)
    }

    private func connected() throws(PostgresFailure) -> ClusterTables {
        if let tables { return tables }
        let fresh = try connector.connect()
        (tables, known) = (fresh, nil)
        return fresh
    }
}
