import BackendContract
import Objects
import Runtime
import Synchronization

/// A read that waits for a worker thread, or for what makes it cheaper, or runs on a thread.
///
/// A prepared read holds the state that it answers from. It is dropped when it has waited for too
/// long, or its client is gone, not only when a thread comes to it.
package final class WaitingRead: WorkUnderWay {
    private struct State {
        var prepared: ReadyRead?
        /// Since when it has waited for a thread, by the monotonic clock.
        var queued: Int64
        /// How often it has waited for something else.
        var waits = 0
    }

    /// When its turn came, by the monotonic clock.
    package let begin: Int64
    /// Tells the run that nobody wants its answer any more.
    package let stop = StopSignal()
    private let state: Mutex<State>

    /// - Parameter prepared: nil: it is prepared on the thread.
    init(_ prepared: ReadyRead?, since begin: Int64) {
        state = Mutex(State(prepared: prepared, queued: begin))
        self.begin = begin
    }

    fileprivate var queue: (since: Int64, waits: Int) {
        state.withLock { ($0.queued, $0.waits) }
    }

    /// Has it wait for a thread, after it has waited for something else.
    fileprivate func queue(at now: Int64) {
        state.withLock { state in
            state.queued = now
            state.waits += 1
        }
    }

    /// Keeps a prepared read until a thread comes to it.
    fileprivate func put(_ read: ReadyRead) { state.withLock { $0.prepared = read } }

    /// The prepared read, once.
    func take() -> ReadyRead? {
        state.withLock { state in
            defer { state.prepared = nil }
            return state.prepared
        }
    }

    /// Ends it: what waits is dropped, what runs is told to end.
    package func end() {
        stop.stop()
        _ = take()
    }

    package func letGo(now: Int64, _ limits: Limits) {
        if (now - begin) / 1_000_000 > limits.queueMilliseconds { _ = take() }
    }

    /// Ends it for somebody other than its client, who is answered.
    fileprivate func cancel() {
        stop.cancel()
        _ = take()
    }
}

extension Desk {
    /// Has a worker thread answer a read, when nothing is being built any more that it should wait for.
    /// Until then it holds neither a thread nor a place in their queue, nor the state that it was
    /// planned on.
    ///
    /// The asker gets the read on any thread, unless the threads end before.
    func offload(_ request: ServiceRequest, _ waiting: WaitingRead, for asker: some Asker) {
        asker.note(waiting)
        let caller = asker.caller
        let read = waiting.take()
        let id = request.method.map { method in
            service.activity.begin(
                method, by: caller, since: waiting.begin, read?.preparation,
                end: waiting.cancel)
        }
        @Sendable func end(_ read: ReadyRead) {
            asker.answer(read, until: waiting.stop)
            if let id { service.activity.end(id) }
        }
        @Sendable func goOn(_ failure: ServiceFailure?) {
            if let failure {
                let reason = waiting.stop.isCancelled ? .cancelled : failure
                let refused = request.refused(RPCFailure(reason))
                return end(ReadyRead(request: refused, begin: waiting.begin))
            }
            waiting.queue(at: service.clock.nanoseconds())
            queue()
        }
        @Sendable func mayRun(_ read: ReadyRead) -> Bool {
            guard case .planned(let planned) = read.preparation else { return true }
            return planned.mayRun(
                since: waiting.begin, after: waiting.queue.waits, until: waiting.stop, goOn)
        }
        @Sendable func queue() {
            workers.reads.submit(for: caller.share) {
                let read = take(request, waiting, from: caller)
                if let id { service.activity.note(read.preparation, of: id) }
                if mayRun(read) { end(read) }
            }
        }
        if let read {
            guard mayRun(read) else { return }
            waiting.put(read)
        }
        queue()
    }

    /// What a worker thread answers when it comes to a read: the read, or that it has waited for too
    /// long or its client is gone.
    private func take(
        _ request: ServiceRequest, _ waiting: WaitingRead, from caller: Caller
    ) -> ReadyRead {
        refused(request, waiting) ?? waiting.take()
            ?? prepare(request, from: caller, since: waiting.begin)
    }

    /// A read that has waited for a thread for too long, or whose client is gone; nil for others.
    private func refused(_ request: ServiceRequest, _ waiting: WaitingRead) -> ReadyRead? {
        let (queue, limits) = (waiting.queue, service.limits)
        let waited = (service.clock.nanoseconds() - queue.since) / 1_000_000
        // All that have waited for the same columns come at once.
        let most =
            queue.waits == 0
            ? limits.queueMilliseconds
            : max(limits.queueMilliseconds, limits.columnWaitMilliseconds)
        if waiting.stop.isCancelled {
            return ReadyRead(
                request: request.refused(RPCFailure(.cancelled)), begin: waiting.begin)
        }
        guard waited > most || waiting.stop.isStopped else { return nil }
        return ReadyRead(
            request: request.refused(.overloaded(milliseconds: Int(waited))), begin: waiting.begin)
    }
}

extension ServiceFailure {
    /// The end of a read that an administrator has cancelled.
    static let cancelled = ServiceFailure(
        .queryTimeout, "an administrator has ended the request (server.cancel)")
}

extension RPCFailure {
    /// The refusal of a costly read that waited this long for a thread and would have waited
    /// longer.
    fileprivate static func overloaded(milliseconds: Int) -> RPCFailure {
        RPCFailure(
            ServiceFailure(
                .tooManyRequests, "the service is overloaded; nothing was done",
                retryAfterMilliseconds: milliseconds))
    }
}
