import GeoBucketClient
import JSONText
import Objects
import ServiceDesk
import WebExchange
import Wire

/// The operations of a service in this process, by its line protocol.
public struct LineOperations: WebOperations {
    public let service: TestService
    public let limits: Limits

    /// The operations of a service with these limits.
    public init(service: TestService, limits: Limits = Limits()) {
        (self.service, self.limits) = (service, limits)
    }

    /// The reply of another process, as that of another node.
    public func reply<Reply>(
        to call: TypedCall<Reply>, from caller: Caller
    ) async throws(RPCFailure) -> Reply {
        let result = try await text(call.name, call.paramsText)
        let parser = JSONParser()
        defer { withExtendedLifetime(parser) {} }
        guard let view = try? parser.parse(result) else {
            throw .invalidRequest("the result cannot be read")
        }
        return try call.reply(in: view)
    }

    private func text(
        _ method: MethodName, _ params: [UInt8]
    ) async throws(RPCFailure) -> [UInt8] {
        do {
            return try await service.connection.call("\(method.text)", params)
        } catch ClientFailure.refused(let failure) {
            var refusal = RPCFailure(failure.code, failure.errorCode, failure.message)
            refusal.path = failure.path
            throw refusal
        } catch {
            throw .invalidRequest("\(error)")
        }
    }

    public func caller(of request: WebRequest) throws(WebFailure) -> Caller {
        Caller(address: request.address)
    }
}
