import Backend
import JSONText
import Logging
import Objects
import Operations
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
        case .info, .ping, .statistics, .listBuckets, .count, .query, .explain, .export, .get: .read
        case .deleteBucket(let bucket): .write(.deleteBucket(bucket))
        case .deleteWhere(let bucket, let clause):
            .write(.deleteWhere(bucket: bucket, clause: clause))
        case .create(let bucket, let document, let dataType):
            .write(
                .put(
                    bucket: bucket,
                    object: PutObject(id: nil, document: document, dataType: dataType),
                    condition: .none))
        case .put(let bucket, let id, let document, let condition):
            .write(
                .put(
                    bucket: bucket, object: PutObject(id: id, document: document),
                    condition: condition))
        case .patch(let bucket, let id, let patch, let version):
            .write(.patch(bucket: bucket, id: id, patch: patch, ifVersion: version))
        case .delete(let bucket, let id, let version):
            .write(.delete(bucket: bucket, id: id, ifVersion: version))
        case .putMany(let bucket, let objects):
            .write(
                .putMany(
                    bucket: bucket,
                    objects: objects.map { PutObject(id: $0.id, document: $0.document) }))
        }
    }

    /// Appends the answer to a read, or to a request that has failed already.
    ///
    /// - Returns: false, with nothing appended, when the read asks for more than `effort`.
    func answer(
        _ request: Request, export: ExportSession, effort: Effort, into writer: inout JSONWriter
    ) -> Bool {
        let id = request.id ?? []
        do throws(RPCFailure) {
            let call = try request.call.get()
            let done: Bool
            do throws(ServiceFailure) {
                done = try AnswerWriter.result(id: id, to: &writer) {
                    writer throws(ServiceFailure) in
                    try run(call, export, id: id, effort: effort, into: &writer)
                }
            } catch {
                throw failure(error)
            }
            if done { count(request, failed: false) }
            return done
        } catch {
            AnswerWriter.failure(error, id: request.id, to: &writer)
            count(request, failed: true)
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
            count(request, failed: false)
        case .failure(let reason):
            AnswerWriter.failure(failure(reason), id: request.id, to: &writer)
            count(request, failed: true)
        }
    }

    private func run(
        _ call: MethodCall, _ export: ExportSession, id: [UInt8], effort: Effort,
        into writer: inout JSONWriter
    ) throws(ServiceFailure) -> Bool {
        let envelopeBytes = AnswerWriter.envelopeBytes + id.count
        switch call {
        case .info: service.info(into: &writer)
        case .ping: service.ping(into: &writer)
        case .statistics: service.statistics(into: &writer)
        case .listBuckets(let scope): try service.listBuckets(in: scope, into: &writer)
        case .get(let bucket, let id): try service.get(id, in: bucket, into: &writer)
        case .count(let bucket, let clause):
            return try service.count(clause, in: bucket, effort: effort, into: &writer)
        case .query(let bucket, let query):
            return try service.query(
                query, in: bucket, envelopeBytes: envelopeBytes, effort: effort, into: &writer)
        case .export(let bucket, let continues):
            return try service.export(
                bucket, continues: continues, session: export, envelopeBytes: envelopeBytes,
                effort: effort, into: &writer)
        case .explain(let bucket, let query, let analyze):
            if analyze, effort == .light { return false }
            try service.explain(query, in: bucket, analyze: analyze, into: &writer)
        case .deleteBucket, .deleteWhere, .create, .put, .patch, .delete, .putMany:
            preconditionFailure("a write is queued, not run")
        }
        return true
    }

    /// A fault of our own is told by a request id, under which the log has the reason.
    private func failure(_ failure: ServiceFailure) -> RPCFailure {
        guard failure.reason == .undefined else { return RPCFailure(failure) }
        let requestID = String(UInt64.random(in: .min ... .max), radix: 16)
        logger.error(
            "a request failed",
            metadata: ["request": "\(requestID)", "reason": "\(failure.message)"])
        return RPCFailure(internalErrorOf: requestID)
    }

    private func count(_ request: Request, failed: Bool) {
        service.counters.count(method: request.method?.rawValue, failed: failed)
    }
}
