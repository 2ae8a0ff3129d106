import Objects
import Operations
import QueryLanguage
import QueryServer
import WebExchange
import WireProtocol

/// The operations of a service, for the sites of the web port.
struct WebService: WebOperations {
    /// The limits for requests.
    let limits: Limits
    private let runner: MessageRunner
    private let access: WebAccess

    init(limits: Limits, runner: MessageRunner, access: WebAccess) {
        (self.limits, self.runner, self.access) = (limits, runner, access)
    }

    /// Calls a method as a request of the line protocol would.
    func call(
        _ method: MethodName, _ params: [UInt8], from caller: Caller
    ) async throws(RPCFailure) -> [UInt8] {
        try await runner.call(method, params, from: caller)
    }

    /// Calls `bucket.clusters`, without JSON if this node answers.
    func clusters(
        _ params: [UInt8], from caller: Caller
    ) async throws(RPCFailure) -> ClusterAnswer {
        try await runner.clusters(params, from: caller)
    }

    /// The caller of a request by its token or its session.
    func caller(of request: WebRequest) throws(WebFailure) -> Caller {
        try access.caller(of: request)
    }

    /// Refuses a caller who may not read a bucket.
    func permit(_ caller: Caller, reading bucket: BucketName?) throws(WebFailure) {
        try access.permit(caller, reading: bucket)
    }
}
