import GeoBucketClient
import Objects
import Operations
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

    public func call(
        _ method: MethodName, _ params: [UInt8], from caller: Caller
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
