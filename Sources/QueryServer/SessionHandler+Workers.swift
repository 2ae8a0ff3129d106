import Backend
import Glibc
import JSONText
import NIOCore
import Objects
import Operations
import WireProtocol

/// Costly reads, on threads of their own.
extension SessionHandler {
    /// Costly reads leave the cores to the event loop and the writer where those have something to
    /// do; Linux counts this by thread.
    private static let workerNiceness: Int32 = 10

    /// Runs a read on a worker thread.
    func offload(_ request: Request, since begin: Int64, _ context: ChannelHandlerContext) {
        let eventLoop = context.eventLoop
        let stop = StopSignal()
        self.stop = stop
        workers.submit { [self] _ in
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.workerNiceness)
            var request = request
            let waited = (monotonicNanoseconds() - begin) / 1_000_000
            if waited > limits.queueMilliseconds {
                request = request.refused(.overloaded(milliseconds: Int(waited)))
            }
            var writer = JSONWriter()
            _ = dispatcher.answer(
                request, from: caller, since: begin, effort: .until(stop), into: &writer)
            let answer = writer.bytes
            eventLoop.execute { [request] in self.finish(request, answer) }
        }
        if request.method == .export || request.method == .backup, !isWatchingExport {
            isWatchingExport = true
            watchExport(eventLoop)
        }
    }

    /// Looks after every idle time whether the export is still used, as long as there is one.
    private func watchExport(_ eventLoop: any EventLoop) {
        let idle = limits.exportIdleMilliseconds
        eventLoop.scheduleTask(in: .milliseconds(Int64(idle))) { [self] in
            if context != nil, caller.export.expire(after: .milliseconds(idle)) {
                watchExport(eventLoop)
            } else {
                isWatchingExport = false
            }
        }
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
