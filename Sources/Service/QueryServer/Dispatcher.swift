import Backend
import JSONText
import Logging
import Objects
import Operations
import Runtime
import WireProtocol

/// From a call of the wire to the operation that does it.
struct Dispatcher: Sendable {
    let service: Service
    let logger: Logger

    /// Why a request is not to be done now; nil when it is. To be asked once, in its turn.
    func refusal(of request: UnreadRequest, from caller: Caller) -> RPCFailure? {
        do throws(ServiceFailure) {
            try service.admit(Self.operation(of: request), from: caller)
            return nil
        } catch {
            return RPCFailure(error)
        }
    }

    /// What a request is about to do, as far as its method and the bucket it names tell.
    private static func operation(of request: UnreadRequest) -> Operation {
        switch request.method {
        // What is no request is told so to everybody; what methods there are, to nobody in particular.
        case .failure(let failure): failure.errorCode == "METHOD_NOT_FOUND" ? .invalid : .open
        case .success(let name): Method[name].operation(of: request)
        }
    }

    /// Appends the answer to a read, or to a request that has failed already.
    ///
    /// - Parameter begin: when its turn came, by the monotonic clock.
    /// - Returns: false, with nothing appended, when the read asks for more than `effort`.
    func answer(
        _ request: Request, from caller: Caller, since begin: Int64, effort: Effort,
        into writer: inout JSONWriter
    ) -> Bool {
        do throws(RPCFailure) {
            let call = try request.call.get()
            let done: Bool
            do throws(ServiceFailure) {
                done = try run(call, request.id ?? "", caller, effort, into: &writer)
            } catch {
                noteLogin(error, from: caller)
                throw failure(error)
            }
            if done { count(request, since: begin) }
            return done
        } catch {
            AnswerWriter.failure(error, id: request.id, to: &writer)
            count(request, error, since: begin)
            return true
        }
    }

    private func run(
        _ call: Call, _ id: String, _ caller: Caller, _ effort: Effort,
        into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        guard case .read(let read) = call else {
            preconditionFailure("a write is queued, not run")
        }
        let context = ReadContext(
            service: service, caller: caller,
            envelopeBytes: AnswerWriter.envelopeBytes + id.utf8.count, effort: effort)
        return try AnswerWriter.result(id: id, to: &writer) { writer throws(ServiceFailure) in
            try read.run(context, into: &writer)
        }
    }

    /// Appends the answer to a write that is done.
    func answer(_ finished: FinishedWrite, into writer: inout JSONWriter) {
        let request = finished.request
        switch finished.result {
        case .success(let answer):
            _ = AnswerWriter.result(id: request.id ?? "", to: &writer) { writer in
                answer.write(for: finished.write, into: &writer)
                return true
            }
            count(request, since: finished.begin)
        case .failure(let reason):
            let failure = failure(reason)
            AnswerWriter.failure(failure, id: request.id, to: &writer)
            count(request, failure, since: finished.begin)
        }
    }

    /// Logs a login that has failed. Those that have to wait are not logged: they could fill the log.
    private func noteLogin(_ failure: ServiceFailure, from caller: Caller) {
        guard failure.reason == .wrongToken else { return }
        logger.notice("a login failed", metadata: ["address": "\(caller.address)"])
    }

    /// A fault of our own is told by a request id, under which the log has the reason.
    private func failure(_ failure: ServiceFailure) -> RPCFailure {
        guard failure.reason == .undefined else { return RPCFailure(failure) }
        let requestID = Self.requestID()
        logger.error(
            "a request failed",
            metadata: ["request": "\(requestID)", "reason": "\(failure.message)"])
        return RPCFailure(internalErrorOf: requestID)
    }

    private func count(_ request: Request, _ failure: RPCFailure? = nil, since begin: Int64) {
        let nanoseconds = monotonicNanoseconds() - begin
        service.counters.count(
            method: request.method, errorCode: failure?.errorCode,
            nanoseconds: nanoseconds)
        let limit = service.limits.slowQueryMilliseconds
        if limit > 0, nanoseconds > Int64(limit) * 1_000_000 {
            noteSlow(request, failure, milliseconds: nanoseconds / 1_000_000)
        }
    }

    /// Logs a slow query or count and how it runs: the fields it asks for, not their values.
    private func noteSlow(_ request: Request, _ failure: RPCFailure?, milliseconds: Int64) {
        guard case .success(.read(let read)) = request.call, let slow = read.query else { return }
        service.counters.countSlow()
        logger.notice(
            "slow query",
            metadata: [
                "request": "\(failure?.requestID ?? Self.requestID())",
                "bucket": "\(slow.bucket.text)",
                "method": "\(request.method?.text ?? "")", "milliseconds": "\(milliseconds)",
                "plan": "\(service.outline(of: slow.query, in: slow.bucket))",
                "errorCode": "\(failure?.errorCode ?? "none")",
            ])
    }

    private static func requestID() -> String {
        String(UInt64.random(in: .min ... .max), radix: 16)
    }
}
