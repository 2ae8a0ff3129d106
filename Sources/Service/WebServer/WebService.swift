import Objects
import Operations
import QueryServer
import WebExchange
import WireProtocol

/// The operations of a service, for the sites of the web port.
package struct WebService: WebOperations {
    /// The limits for requests.
    package let limits: Limits
    private let runner: MessageRunner
    private let access: WebAccess

    init(limits: Limits, runner: MessageRunner, access: WebAccess) {
        (self.limits, self.runner, self.access) = (limits, runner, access)
    }

    /// The operations of a service without a server.
    package init(
        service: Operations.Service, runner: MessageRunner,
        settings: WebServer.Settings = .init(host: "127.0.0.1", port: 0, isLoopbackOnly: true)
    ) {
        self.init(
            limits: service.limits, runner: runner,
            access: WebAccess(service: service, settings: settings, isSecure: false))
    }

    /// Calls a method as a request of the line protocol would.
    package func call(
        _ method: MethodName, _ params: [UInt8], from caller: Caller
    ) async throws(RPCFailure) -> [UInt8] {
        try await runner.call(method, params, from: caller)
    }

    /// The caller of a request by its token or its session.
    package func caller(of request: WebRequest) throws(WebFailure) -> Caller {
        try access.caller(of: request)
    }
}
