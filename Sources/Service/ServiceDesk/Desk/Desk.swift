import BackendContract
import JSONText
import Logging
import Objects
import QueryLanguage
import Runtime

/// The desk, at which every request is admitted, given its course, carried out and answered, whichever
/// door it comes by.
///
///     let desk = Desk(service: service, workers: workers, logger: logger)
///     guard case .request(let request) = desk.parse(line: bytes, parser, from: asker.caller) else { … }
///     desk.carryOut(request, for: asker, since: now)      // asker.answer(…) follows
///
/// A door turns bytes into requests and answers into bytes: `Asker` is its side.
package struct Desk: Sendable {
    package let service: QueryService
    package let workers: Workers
    package let logger: Logger
    /// For texts that are parsed on worker threads.
    let parsers = JSONParserPool()

    /// A desk of a service.
    ///
    /// - Parameter workers: the threads for long texts and costly reads.
    package init(service: QueryService, workers: Workers, logger: Logger) {
        (self.service, self.workers, self.logger) = (service, workers, logger)
    }

    /// Decides on admission: why the request is refused, or nil. Call it once for each request, in
    /// order.
    ///
    /// - Parameter isElement: whether it is a request of a batch.
    func refusal(
        of request: UnreadRequest, isElement: Bool, from caller: Caller
    ) -> RPCFailure? {
        do throws(ServiceFailure) {
            try service.admit(
                Self.operation(of: request), of: try? request.method.get(), from: caller)
        } catch {
            return RPCFailure(error)
        }
        guard isElement || request.id == nil, case .success(let name) = request.method,
            Method[name].standsAlone
        else { return nil }
        return .invalidRequest("\(name.text) has to be alone in its line, and to have an id")
    }

    /// The operation of a request, as far as its method and bucket tell.
    private static func operation(of request: UnreadRequest) -> Operation {
        switch request.method {
        // An invalid request gets its error even without a login. An unknown method does not, so
        // that methods cannot be probed without one.
        case .failure(let failure): failure.errorCode == "METHOD_NOT_FOUND" ? .invalid : .open
        case .success(let name): Method[name].operation(of: request)
        }
    }

    /// Checks and plans a read. A request that has failed already stays unchanged.
    ///
    /// - Parameter begin: when its turn came, by the monotonic clock.
    func prepare(_ request: ServiceRequest, from caller: Caller, since begin: Int64) -> ReadyRead {
        guard let call = request.call else {
            return ReadyRead(request: request, begin: begin)
        }
        do throws(ServiceFailure) {
            let preparation = try call.read.prepare(for: caller, on: service)
            return ReadyRead(
                request: request, begin: begin, preparation: preparation, caller: caller,
                found: service.auditsReads ? FoundCount() : nil)
        } catch {
            return ReadyRead(
                request: request.refused(failure(error)), begin: begin, caller: caller)
        }
    }

    /// Appends the answer to a read, or to a request that has failed already.
    ///
    /// - Parameter stop: cancels the read.
    package func answer(
        _ ready: ReadyRead, from caller: Caller, until stop: StopSignal? = nil,
        into writer: inout JSONWriter
    ) {
        let result = reply(to: ready, from: caller, until: stop) { context throws(ServiceFailure) in
            try write(ready, in: context, to: &writer)
        }
        if case .failure(let failure) = result {
            AnswerWriter.failure(failure, id: ready.request.id, to: &writer)
        }
    }

    private func write(
        _ ready: ReadyRead, in context: ReadContext, to writer: inout JSONWriter
    ) throws(ServiceFailure) {
        let read = ready.read
        try AnswerWriter.result(id: ready.request.id ?? "", to: &writer) {
            writer throws(ServiceFailure) in
            try read.run(context, into: &writer)
        }
    }

    /// What `body` makes of a read, or why the request has failed.
    ///
    /// - Parameter stop: cancels the read.
    func reply<Reply>(
        to ready: ReadyRead, from caller: Caller, until stop: StopSignal?,
        _ body: (ReadContext) throws(ServiceFailure) -> Reply
    ) -> Result<Reply, RPCFailure> {
        do throws(RPCFailure) {
            let reply = try run(ready, for: caller, until: stop, body)
            count(ready)
            return .success(reply)
        } catch {
            count(ready, error)
            return .failure(error)
        }
    }

    /// Answers a query or count that may not begin yet, in case what it sees turns out to be the
    /// latest; nil if the read cannot be answered on an event loop, or fails.
    package func answerEarly(_ request: ServiceRequest, from caller: Caller, since begin: Int64)
        -> EarlyAnswer?
    {
        guard let state = service.readStates?.present,
            case .here(let read) = plan(request, from: caller, since: begin),
            case .planned = read.preparation
        else { return nil }
        var writer = JSONWriter()
        do throws(RPCFailure) {
            try run(read, for: caller, until: nil) { context throws(ServiceFailure) in
                try write(read, in: context, to: &writer)
            }
        } catch {
            return nil
        }
        return EarlyAnswer(read: read, state: state, bytes: writer.bytes)
    }

    /// Whether an early answer is the one that the read would be given now.
    package func confirms(_ early: EarlyAnswer) -> Bool {
        guard early.state == service.readStates?.latest else { return false }
        count(early.read)
        return true
    }

    private func run<Reply>(
        _ ready: ReadyRead, for caller: Caller, until stop: StopSignal?,
        _ body: (ReadContext) throws(ServiceFailure) -> Reply
    ) throws(RPCFailure) -> Reply {
        _ = try ready.request.validCall()
        let context = ReadContext(
            service: service, caller: caller, preparation: ready.preparation,
            envelopeBytes: AnswerWriter.envelopeBytes + (ready.request.id ?? "").utf8.count,
            stop: stop, found: ready.found)
        do throws(ServiceFailure) {
            return try body(context)
        } catch {
            logger.noteLogin(error, from: caller)
            throw failure(stop?.isCancelled == true ? .cancelled : error)
        }
    }

    /// Appends the answer that the answers of all nodes make.
    func answer(
        _ request: ServiceRequest, _ gathering: Gathering,
        of answers: [(node: ClusterNode, answer: [UInt8]?)], isWhole: Bool, since begin: Int64,
        into writer: inout JSONWriter
    ) {
        do throws(RPCFailure) {
            guard isWhole else {
                throw RPCFailure(
                    ServiceFailure(
                        .temporarilyUnavailable, "not every bucket is on a node that answers"))
            }
            let id = request.id ?? ""
            let around = AnswerWriter.envelopeBytes + id.utf8.count + #"{"buckets":[]}"#.utf8.count
            try AnswerWriter.result(id: id, to: &writer) { writer throws(RPCFailure) in
                try gathering.write(
                    answers, maximumBytes: service.limits.replyBytes - around, to: &writer)
            }
            count(request, since: begin)
        } catch {
            AnswerWriter.failure(error, id: request.id, to: &writer)
            count(request, error, since: begin)
        }
    }

    /// Appends the answer to a finished write.
    package func answer(_ finished: FinishedWrite, into writer: inout JSONWriter) {
        let request = finished.request
        switch result(of: finished) {
        case .success(let answer):
            AnswerWriter.result(id: request.id ?? "", to: &writer) { writer in
                answer.write(
                    for: finished.write, change: service.answeredChange, into: &writer)
            }
        case .failure(let failure): AnswerWriter.failure(failure, id: request.id, to: &writer)
        }
    }

    /// What became of a write.
    func result(of finished: FinishedWrite) -> Result<WriteAnswer, RPCFailure> {
        let result = finished.result.mapError(failure)
        if case .failure(let failure) = result {
            count(finished.request, failure, since: finished.begin)
        } else {
            count(finished.request, since: finished.begin)
        }
        return result
    }

    /// An internal error is answered with a request id; the log has the reason under that id.
    private func failure(_ failure: ServiceFailure) -> RPCFailure {
        guard failure.reason == .undefined else { return RPCFailure(failure) }
        let requestID = Self.requestID()
        logger.error(
            "a request failed",
            metadata: ["request": "\(requestID)", "reason": "\(failure.message)"])
        return RPCFailure(internalErrorOf: requestID)
    }

    private func count(_ ready: ReadyRead, _ failure: RPCFailure? = nil) {
        count(ready.request, failure, since: ready.begin, of: ready)
        guard let caller = ready.caller else { return }
        service.auditRead(
            ready.request.method, of: ready.request.bucket, objects: ready.found?.count,
            errorCode: failure?.errorCode, by: caller)
    }

    /// Counts an answered request.
    ///
    /// - Parameter read: a read as it was planned.
    private func count(
        _ request: ServiceRequest, _ failure: RPCFailure? = nil, since begin: Int64,
        of read: ReadyRead? = nil
    ) {
        let nanoseconds = service.clock.nanoseconds() - begin
        service.counters.count(
            method: request.method, errorCode: failure?.errorCode, bucket: request.bucket,
            nanoseconds: nanoseconds)
        let limit = service.live.slowQueryMilliseconds
        if limit > 0, nanoseconds > Int64(limit) * 1_000_000, let read,
            let outline = read.preparation.outline
        {
            noteSlow(read, outline, failure, milliseconds: nanoseconds / 1_000_000)
        }
    }

    /// Logs a slow query or count, who asked, its plan and its clause: the fields in it, not their
    /// values.
    private func noteSlow(
        _ read: ReadyRead, _ outline: (bucket: BucketName, plan: String), _ failure: RPCFailure?,
        milliseconds: Int64
    ) {
        service.counters.countSlow()
        var metadata: Logger.Metadata = [
            "request": "\(failure?.requestID ?? Self.requestID())",
            "bucket": "\(outline.bucket.text)",
            "method": "\(read.request.method?.text ?? "")",
            "milliseconds": .stringConvertible(milliseconds),
            "plan": "\(outline.plan)", "clause": "\(read.preparation.clauseShape ?? "")",
            "errorCode": "\(failure?.errorCode ?? "none")",
        ]
        if let caller = read.caller {
            metadata["address"] = "\(caller.address)"
            if let grant = caller.grant { metadata["principal"] = "\(grant.principal)" }
        }
        logger.notice("slow query", metadata: metadata)
    }

    private static func requestID() -> String {
        String(UInt64.random(in: .min ... .max), radix: 16)
    }
}
