import Backend
import JSONText
import NIOCore
import Objects
import Operations
import WireProtocol

/// What would hold up the event loop, on threads of its own.
extension SessionHandler {
    /// Looks at a long text on a worker thread.
    func examine(_ text: LongText, _ context: ChannelHandlerContext) {
        let eventLoop = context.eventLoop
        workers.parsing.submit(for: caller.share) { [self] in
            let contents = text.contents(limits: limits) {
                dispatcher.refusal(of: $0, from: caller)
            }
            eventLoop.execute { self.take(contents) }
        }
    }

    /// Runs a read on a worker thread.
    func offload(_ request: Request, since begin: Int64, _ context: ChannelHandlerContext) {
        let eventLoop = context.eventLoop
        let stop = StopSignal()
        self.stop = stop
        workers.reads.submit(for: caller.share) { [self] in
            var request = request
            let waited = (monotonicNanoseconds() - begin) / 1_000_000
            if waited > limits.queueMilliseconds {
                request = request.refused(.overloaded(milliseconds: Int(waited)))
            }
            var writer = JSONWriter()
            _ = dispatcher.answer(
                request, from: caller, since: begin, effort: .until(stop), into: &writer)
            // A large request is freed here: the loop gets its id alone.
            let (id, answer) = (request.id, writer.bytes)
            eventLoop.execute { self.finish(id, answer) }
        }
    }

    /// Looks after every idle time whether the export is still used, as long as there is one.
    func watchExport(_ eventLoop: any EventLoop) {
        isWatchingExport = true
        let idle = limits.exportIdleMilliseconds
        eventLoop.scheduleTask(in: .milliseconds(Int64(idle))) { [weak self] in
            guard let self else { return }
            if context != nil, caller.export.expire(after: .milliseconds(idle)) {
                watchExport(eventLoop)
            } else {
                isWatchingExport = false
            }
        }
    }
}

/// Threads for what would hold up an event loop.
struct Workers: Sendable {
    /// Costly reads, of seconds perhaps.
    let reads: FairWorkers
    /// Long requests to be read: milliseconds each, which do not wait for costly reads.
    let parsing: FairWorkers

    init(limits: Limits) {
        reads = FairWorkers(threads: limits.readThreads)
        parsing = FairWorkers(threads: max(2, limits.connectionThreads))
    }

    /// Ends all threads when what runs on them has ended.
    func shutdownGracefully() async throws {
        try await parsing.shutdownGracefully()
        try await reads.shutdownGracefully()
    }
}

extension RPCFailure {
    /// So long has a costly read waited, and would have gone on to.
    fileprivate static func overloaded(milliseconds: Int) -> RPCFailure {
        RPCFailure(
            ServiceFailure(
                .tooManyRequests, "the service is overloaded; nothing was done",
                retryAfterMilliseconds: milliseconds))
    }
}
