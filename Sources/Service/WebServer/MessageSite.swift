import HTTPTypes
import JSONText
import NIOCore
import Objects
import QueryServer
import ServiceDesk
import Synchronization
import WebExchange

/// `POST /rpc`: the methods of the line protocol, one message or batch a request.
struct MessageSite: Sendable {
    let service: QueryService
    let desk: AsyncDesk
    let access: WebAccess
    private let exports: ConnectionExports

    init(service: QueryService, desk: AsyncDesk, access: WebAccess) {
        (self.service, self.desk, self.access) = (service, desk, access)
        exports = ConnectionExports { caller in
            caller.export.close()
            desk.forget(caller)
        }
    }

    func answer(
        _ request: WebRequest, _ channel: any Channel
    ) async throws(WebFailure) -> WebAnswer {
        try request.check(methods: [.post])
        let types = ["application/json", "application/json-rpc"]
        guard types.contains(request.mediaType) else { throw .unsupportedType(types) }
        let caller = exports.caller(on: channel, try access.caller(of: request))
        let answer: [UInt8]?
        do throws(RPCFailure) {
            answer = try await desk.answer(
                request.body, from: caller, maximumBytes: service.limits.outputBytes)
        } catch {
            throw WebFailure(error)
        }
        exports.note(caller, on: channel, idle: service.limits.exportIdleMilliseconds)
        guard let answer else { return WebAnswer(.noContent) }
        var result = WebAnswer("application/json", answer)
        if service.requiresLogin, caller.grant == nil, Self.isUnauthorized(answer) {
            result.status = .unauthorized
            result.headers[.wwwAuthenticate] = WebFailure.bearer
        }
        return result
    }

    /// Whether a single request was refused because there is no login. A page that sees the status
    /// asks for one.
    private static func isUnauthorized(_ answer: [UInt8]) -> Bool {
        guard answer.count < 1_024, answer.first == UInt8(ascii: "{") else { return false }
        let code = try? JSONParser.reading(answer) { $0["error"]?["data"]?["errorCode"]?.string }
        return code == "UNAUTHORIZED"
    }
}

/// The callers whose exports are under way, by their connections. An export goes on in the next
/// request on the same connection, by the same principal.
private final class ConnectionExports: Sendable {
    private let callers = Mutex<[ObjectIdentifier: Caller]>([:])
    private let end: @Sendable (Caller) -> Void

    /// - Parameter end: ends a caller's export.
    init(end: @escaping @Sendable (Caller) -> Void) { self.end = end }

    /// The caller that a request comes from.
    func caller(on channel: any Channel, _ caller: Caller) -> Caller {
        let present = callers.withLock { $0[ObjectIdentifier(channel)] }
        guard let present, present.grant?.principal == caller.grant?.principal else {
            return caller
        }
        present.shareLogin(of: caller)
        return present
    }

    /// Keeps the caller of an export that has begun, until it has ended, waited for too long, or its
    /// connection has.
    func note(_ caller: Caller, on channel: any Channel, idle milliseconds: Int) {
        let key = ObjectIdentifier(channel)
        let isUnderWay = caller.export.isUnderWay || caller.exportNode != nil
        let known = callers.withLock { callers in
            defer { callers[key] = isUnderWay ? caller : nil }
            return callers[key]
        }
        if let known, known !== caller || !isUnderWay { end(known) }
        guard isUnderWay, known !== caller else { return }
        channel.closeFuture.whenComplete { [self] _ in
            callers.withLock { callers in
                if callers[key] === caller { callers[key] = nil }
            }
            end(caller)
        }
        watch(caller, channel.eventLoop, milliseconds)
    }

    /// Checks after each idle period whether the export is still in use.
    private func watch(_ caller: Caller, _ loop: any EventLoop, _ milliseconds: Int) {
        loop.scheduleTask(in: .milliseconds(Int64(milliseconds))) { [weak caller, weak self] in
            guard let self, let caller else { return }
            if caller.export.expire(after: .milliseconds(milliseconds)) {
                watch(caller, loop, milliseconds)
            }
        }
    }
}
