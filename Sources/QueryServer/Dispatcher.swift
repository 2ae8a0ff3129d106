import Backend
import JSONText
import Logging
import Objects
import Operations
import QueryLanguage
import WireProtocol

/// From a call of the wire to the operation that does it.
struct Dispatcher: Sendable {
    let service: Service
    let logger: Logger

    /// A call as the session has to treat it.
    enum Kind {
        /// Runs on the caller's thread, after every write before it.
        case read
        /// Is queued, and answered later.
        case write(Write)
    }

    static func kind(of call: MethodCall) -> Kind {
        switch call {
        case .info, .ping, .statistics, .login, .listBuckets, .count, .query, .explain, .export,
            .get, .check, .backup:
            .read
        case .deleteBucket(let bucket): .write(.deleteBucket(bucket))
        case .deleteWhere(let bucket, let clause):
            .write(.deleteWhere(bucket: bucket, clause: clause))
        case .create(let bucket, let document, let dataType, let expiry):
            .write(
                .put(
                    bucket: bucket,
                    object: PutObject(
                        id: nil, document: document, dataType: dataType,
                        expires: expiry.applied(to: nil)),
                    condition: .none))
        case .put(let bucket, let id, let document, let condition, let expiry):
            .write(
                .put(
                    bucket: bucket,
                    object: PutObject(
                        id: id, document: document, expires: expiry.applied(to: nil)),
                    condition: condition))
        case .patch(let bucket, let id, let patch, let version, let expiry):
            .write(
                .patch(bucket: bucket, id: id, patch: patch, ifVersion: version, expiry: expiry))
        case .delete(let bucket, let id, let version):
            .write(.delete(bucket: bucket, id: id, ifVersion: version))
        case .putMany(let bucket, let objects, let expiry):
            .write(
                .putMany(
                    bucket: bucket,
                    objects: objects.map {
                        PutObject(
                            id: $0.id, document: $0.document, expires: expiry.applied(to: nil))
                    }))
        }
    }

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
        case .success(let method): operation(of: method, request)
        }
    }

    private static func operation(of method: MethodName, _ request: UnreadRequest) -> Operation {
        switch method {
        case .login: return .open
        case .info, .ping: return request.hasNoParams ? .open : .invalid
        case .statistics, .check, .backup: return .administer
        case .listBuckets: return request.scope.map { .list($0) } ?? .invalid
        case .count, .query, .explain, .export, .get:
            return request.bucket.map { .read($0) } ?? .invalid
        case .deleteBucket, .deleteWhere, .create, .put, .patch, .delete, .putMany:
            return request.bucket.map { .write($0) } ?? .invalid
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
        let id = request.id ?? []
        do throws(RPCFailure) {
            let call = try request.call.get()
            let done: Bool
            do throws(ServiceFailure) {
                done = try AnswerWriter.result(id: id, to: &writer) {
                    writer throws(ServiceFailure) in
                    try run(call, caller, id: id, effort: effort, into: &writer)
                }
            } catch {
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

    /// Appends the answer to a write that is done.
    func answer(_ finished: FinishedWrite, into writer: inout JSONWriter) {
        let request = finished.request
        switch finished.result {
        case .success(let answer):
            _ = AnswerWriter.result(id: request.id ?? [], to: &writer) { writer in
                Service.write(answer, to: finished.write, into: &writer)
                return true
            }
            count(request, since: finished.begin)
        case .failure(let reason):
            let failure = failure(reason)
            AnswerWriter.failure(failure, id: request.id, to: &writer)
            count(request, failure, since: finished.begin)
        }
    }

    private func run(
        _ call: MethodCall, _ caller: Caller, id: [UInt8], effort: Effort,
        into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        let envelopeBytes = AnswerWriter.envelopeBytes + id.count
        switch call {
        case .info: service.info(into: &writer)
        case .ping: service.ping(into: &writer)
        case .statistics: service.statistics(into: &writer)
        case .login(let token): try logIn(token, caller, into: &writer)
        case .listBuckets(let scope, let last):
            return try service.listBuckets(
                in: scope, after: last, for: caller, envelopeBytes: envelopeBytes, effort: effort,
                into: &writer)
        case .get(let bucket, let id): try service.get(id, in: bucket, into: &writer)
        case .count(let bucket, let clause):
            return try service.count(
                clause, in: bucket, by: caller, effort: effort, into: &writer)
        case .query(let bucket, let query):
            return try service.query(
                query, in: bucket, by: caller, envelopeBytes: envelopeBytes, effort: effort,
                into: &writer)
        case .export(let bucket, let continues):
            return try service.export(
                bucket, continues: continues, session: caller.export, envelopeBytes: envelopeBytes,
                effort: effort, into: &writer)
        case .check: return try service.check(effort: effort, into: &writer)
        case .backup(let continues):
            return try service.backup(
                continues: continues, session: caller.export, envelopeBytes: envelopeBytes,
                effort: effort, into: &writer)
        case .explain(let bucket, let query, let analyze):
            if analyze, effort == .light { return false }
            try service.explain(query, in: bucket, analyze: analyze, into: &writer)
        case .deleteBucket, .deleteWhere, .create, .put, .patch, .delete, .putMany:
            preconditionFailure("a write is queued, not run")
        }
        return true
    }

    private func logIn(
        _ token: String, _ caller: Caller, into writer: inout JSONWriter
    ) throws(ServiceFailure) {
        do throws(ServiceFailure) {
            try service.login(token, as: caller, into: &writer)
        } catch {
            // Those that have to wait are not logged: they could fill the log.
            if error.reason == .wrongToken {
                logger.notice("a login failed", metadata: ["address": "\(caller.address)"])
            }
            throw error
        }
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
            method: request.method?.rawValue, errorCode: failure?.errorCode,
            nanoseconds: nanoseconds)
        let limit = service.limits.slowQueryMilliseconds
        if limit > 0, nanoseconds > Int64(limit) * 1_000_000 {
            noteSlow(request, failure, milliseconds: nanoseconds / 1_000_000)
        }
    }

    /// Logs a slow query or count and how it runs: the fields it asks for, not their values.
    private func noteSlow(_ request: Request, _ failure: RPCFailure?, milliseconds: Int64) {
        let (asked, query): (BucketName, Query)
        switch request.call {
        case .success(.query(let bucket, let wanted)): (asked, query) = (bucket, wanted)
        case .success(.count(let bucket, let clause)):
            (asked, query) = (bucket, Query(clause: clause))
        default: return
        }
        service.counters.countSlow()
        logger.notice(
            "slow query",
            metadata: [
                "request": "\(failure?.requestID ?? Self.requestID())", "bucket": "\(asked.text)",
                "method": "\(request.method?.text ?? "")", "milliseconds": "\(milliseconds)",
                "plan": "\(service.outline(of: query, in: asked))",
                "errorCode": "\(failure?.errorCode ?? "none")",
            ])
    }

    private static func requestID() -> String {
        String(UInt64.random(in: .min ... .max), radix: 16)
    }
}
