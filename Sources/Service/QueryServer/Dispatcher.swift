import BackendContract
import JSONText
import Logging
import Objects
import Operations
import QueryLanguage
import Runtime
import WireProtocol

/// Maps a call to the operation that carries it out.
struct Dispatcher: Sendable {
    let service: Service
    let logger: Logger
    /// For texts that are parsed on worker threads.
    let parsers = JSONParserPool()

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
    func prepare(_ request: Request, from caller: Caller, since begin: Int64) -> ReadyRead {
        guard let call = request.call else {
            return ReadyRead(request: request, begin: begin)
        }
        do throws(ServiceFailure) {
            let preparation = try Self.read(call).prepare(for: caller, on: service)
            return ReadyRead(
                request: request, begin: begin, preparation: preparation, caller: caller,
                found: service.auditsReads ? FoundObjects() : nil)
        } catch {
            return ReadyRead(
                request: request.refused(failure(error)), begin: begin, caller: caller)
        }
    }

    private static func read(_ call: Call) -> any Read {
        guard case .read(let read, _) = call else {
            preconditionFailure("a write is queued, not run")
        }
        return read
    }

    /// Appends the answer to a read, or to a request that has failed already.
    ///
    /// - Parameter stop: cancels the read.
    func answer(
        _ ready: ReadyRead, from caller: Caller, until stop: StopSignal? = nil,
        into writer: inout JSONWriter
    ) {
        do throws(RPCFailure) {
            try run(ready, for: caller, until: stop, into: &writer)
            count(ready)
        } catch {
            AnswerWriter.failure(error, id: ready.request.id, to: &writer)
            count(ready, error)
        }
    }

    /// Answers a query or count that may not begin yet, in case what it sees turns out to be the
    /// latest; nil if the read cannot be answered on an event loop, or fails.
    func answerEarly(_ request: Request, from caller: Caller, since begin: Int64) -> EarlyAnswer? {
        guard let state = service.readStates?.present,
            case .here(let read) = start(request, from: caller, since: begin),
            case .planned = read.preparation
        else { return nil }
        var writer = JSONWriter()
        do throws(RPCFailure) {
            try run(read, for: caller, until: nil, into: &writer)
        } catch {
            return nil
        }
        return EarlyAnswer(read: read, state: state, bytes: writer.bytes)
    }

    /// Whether an early answer is the one that the read would be given now.
    func confirms(_ early: EarlyAnswer) -> Bool {
        guard early.state == service.readStates?.latest else { return false }
        count(early.read)
        return true
    }

    private func run(
        _ ready: ReadyRead, for caller: Caller, until stop: StopSignal?,
        into writer: inout JSONWriter
    ) throws(RPCFailure) {
        let read = Self.read(try ready.request.validCall())
        let context = context(of: ready, for: caller, until: stop)
        do throws(ServiceFailure) {
            let id = ready.request.id ?? ""
            try AnswerWriter.result(id: id, to: &writer) { writer throws(ServiceFailure) in
                try read.run(context, into: &writer)
            }
        } catch {
            logger.noteLogin(error, from: caller)
            throw failure(stop?.isCancelled == true ? .cancelled : error)
        }
    }

    private func context(
        of ready: ReadyRead, for caller: Caller, until stop: StopSignal?
    ) -> ReadContext {
        ReadContext(
            service: service, caller: caller, preparation: ready.preparation,
            envelopeBytes: AnswerWriter.envelopeBytes + (ready.request.id ?? "").utf8.count,
            stop: stop, found: ready.found)
    }

    /// The answer to a read of clusters, or to a request that has failed already.
    ///
    /// - Parameter stop: cancels the read.
    func clusters(
        _ ready: ReadyRead, from caller: Caller, until stop: StopSignal? = nil
    ) -> Result<ClusterAnswer, RPCFailure> {
        do throws(RPCFailure) {
            _ = try ready.request.validCall()
            let answer: ClusterAnswer
            do throws(ServiceFailure) {
                answer = try context(of: ready, for: caller, until: stop).clusters()
            } catch {
                throw failure(stop?.isCancelled == true ? .cancelled : error)
            }
            count(ready)
            return .success(answer)
        } catch {
            count(ready, error)
            return .failure(error)
        }
    }

    /// Appends the answer that the answers of all nodes make.
    func answer(
        _ request: Request, _ gathering: Gathering,
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
    func answer(_ finished: FinishedWrite, into writer: inout JSONWriter) {
        let request = finished.request
        switch finished.result {
        case .success(let answer):
            AnswerWriter.result(id: request.id ?? "", to: &writer) { writer in
                answer.write(
                    for: finished.write, change: service.answeredChange, into: &writer)
            }
            count(request, since: finished.begin)
        case .failure(let reason):
            let failure = failure(reason)
            AnswerWriter.failure(failure, id: request.id, to: &writer)
            count(request, failure, since: finished.begin)
        }
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
        _ request: Request, _ failure: RPCFailure? = nil, since begin: Int64,
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
